/** `POST /v1/directmessage/sms` */
import { compileReader } from '../../lib/read-json.ts'
import { variableValueFields } from './places.ts'
import { givenVariables, phoneRecipient, type DirectRoute } from './route.ts'
import { SmsIn } from './wire.ts'

export const sendSms: DirectRoute<SmsIn> = {
  channel: 'sms',
  path: '/v1/directmessage/sms',
  read: compileReader(SmsIn),
  translate: (body, fail) => ({
    recipient: phoneRecipient(body.recipient_number, fail),
    what: { variables: givenVariables(body.variable_values) },
    line: { kind: 'default', mayFailOver: true },
    isFlash: body.flash_sms ?? false,
  }),
  variableFields: () => variableValueFields,
}
