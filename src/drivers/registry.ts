/** Every driver, one line each. */
import type { Driver } from './driver.ts'
import { smpp } from './smpp/index.ts'
import { smsHttp } from './sms-http/index.ts'
import { smtp } from './smtp/index.ts'
import { twilio } from './twilio/index.ts'
import { whatsappCloud } from './whatsapp-cloud/index.ts'

export const drivers: readonly Driver[] = [smtp, smpp, smsHttp, twilio, whatsappCloud]

export const driverNames: readonly string[] = drivers.map(({ name }) => name)

export const findDriver = (name: string): Driver | undefined => drivers.find((driver) => driver.name === name)
