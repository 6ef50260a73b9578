import type { Driver } from '../driver.ts'
import { readHook } from './hook.ts'
import { openSmsHttpLine } from './send.ts'
import { SmsHttpSettings } from './settings.ts'

export const smsHttp: Driver = {
  name: 'sms-http',
  channel: 'sms',
  title: 'SMS broker over HTTP',
  settings: SmsHttpSettings,
  open: openSmsHttpLine,
  hook: readHook,
}
