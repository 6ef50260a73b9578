import type { Driver } from '../driver.ts'
import { openSmppLine } from './send.ts'
import { SmppSettings } from './settings.ts'

export const smpp: Driver = {
  name: 'smpp',
  channel: 'sms',
  title: 'SMS provider (SMPP 3.4)',
  settings: SmppSettings,
  open: (line, context) => openSmppLine(line, context),
}
