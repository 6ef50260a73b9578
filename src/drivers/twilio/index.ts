import type { Driver } from '../driver.ts'
import { readHook } from './hook.ts'
import { openTwilioLine } from './send.ts'
import { TwilioSettings } from './settings.ts'

export const twilio: Driver = {
  name: 'twilio',
  channel: 'sms',
  title: 'Twilio',
  settings: TwilioSettings,
  open: openTwilioLine,
  hook: readHook,
}
