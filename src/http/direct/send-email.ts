/** `POST /v1/directmessage/email` */
import { readEmail } from '../../domain/address.ts'
import type { Recipient } from '../../domain/send-request.ts'
import { compileReader } from '../../lib/read-json.ts'
import { variableValueFields } from './places.ts'
import { givenVariables, type DirectRoute, type Fail } from './route.ts'
import { EmailIn } from './wire.ts'

export const sendEmail: DirectRoute<EmailIn> = {
  channel: 'email',
  path: '/v1/directmessage/email',
  read: compileReader(EmailIn),
  translate: (body, fail) => ({
    recipient: emailRecipient(body.recipient_email, fail),
    what: { variables: givenVariables(body.variable_values) },
    line: { kind: 'default', mayFailOver: true },
    isFlash: false,
  }),
  variableFields: () => variableValueFields,
}

function emailRecipient(address: string | undefined, fail: Fail): Recipient | undefined {
  if (address === undefined) return undefined
  const reading = readEmail(address)
  return reading.ok ? { kind: 'email', email: reading.email } : fail('recipient_email', reading.reason)
}
