import type { Driver } from '../driver.ts'
import { readHook } from './hook.ts'
import { openWhatsAppLine } from './send.ts'
import { WhatsAppCloudSettings } from './settings.ts'

export const whatsappCloud: Driver = {
  name: 'whatsapp-cloud',
  channel: 'whatsapp',
  title: 'WhatsApp Cloud API',
  settings: WhatsAppCloudSettings,
  open: openWhatsAppLine,
  hook: readHook,
}
