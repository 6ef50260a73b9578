import type { Driver } from '../driver.ts'
import { openSmtpLine } from './send.ts'
import { SmtpSettings } from './settings.ts'

export const smtp: Driver = {
  name: 'smtp',
  channel: 'email',
  title: 'Mail server (SMTP)',
  settings: SmtpSettings,
  open: openSmtpLine,
}
