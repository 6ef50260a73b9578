/** `POST /v1/directmessage/whatsapp` */
import { readDigits } from '../../domain/address.ts'
import type { LineChoice } from '../../domain/line.ts'
import { compileReader } from '../../lib/read-json.ts'
import { givenVariables, phoneRecipient, type DirectRoute, type Fail, unreadable } from './route.ts'
import { WhatsappIn } from './wire.ts'

export const sendWhatsapp: DirectRoute<WhatsappIn> = {
  channel: 'whatsapp',
  path: '/v1/directmessage/whatsapp',
  read: compileReader(WhatsappIn),
  translate(body, fail, isWrong) {
    const { header_key: key, body: values } = body.variables ?? {}
    const value = isWrong('variables.header_value') ? unreadable : body.variables?.header_value
    return {
      recipient: phoneRecipient(body.recipient_number, fail),
      what: {
        variables: givenVariables(values),
        header: key === undefined && value === undefined ? undefined : { key, value },
      },
      line: lineOf(body.whatsapp_sender_number, fail),
      isFlash: false,
    }
  },
  variableFields: ({ variables }) => ({
    all: 'variables',
    one: 'variables.body',
    headerName: variables?.header_key === undefined ? 'variables.header_value' : 'variables.header_key',
    headerValue: 'variables.header_value',
  }),
}

function lineOf(number: string | undefined, fail: Fail): LineChoice {
  if (number === undefined) return { kind: 'default', mayFailOver: true }
  const reading = readDigits(number)
  if (reading.ok) return { kind: 'digits', digits: reading.phone.digits }
  fail('whatsapp_sender_number', reading.reason)
  return { kind: 'default', mayFailOver: true }
}
