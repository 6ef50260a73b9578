import { expect, test } from 'vitest'
import { request } from '../../../test/harness/http.ts'
import { createDocsSurface } from '../docs/index.ts'
import { serve } from '../test-server.ts'
import { directDocument } from './openapi.ts'
import { sendEmail } from './send-email.ts'
import { sendSms } from './send-sms.ts'
import { sendWhatsapp } from './send-whatsapp.ts'

const routes = [sendEmail, sendSms, sendWhatsapp]
const postOf = (path: string) => directDocument.paths[path]!['post']!

test('the document has the three routes, and says of each what its reader asks for', () => {
  expect(Object.keys(directDocument.paths).toSorted()).toEqual(routes.map(({ path }) => path).toSorted())
  for (const { path, channel, read } of routes) {
    const { schema, example } = postOf(path).requestBody!.content['application/json']
    const recipient = channel === 'email' ? 'recipient_email' : 'recipient_number'
    expect(schema['required']).toEqual([recipient, 'contract_code', 'template_code'])
    expect(JSON.stringify(schema)).not.toContain('"x-')
    expect(read(example)).toMatchObject({ ok: true })
    const empty = read({})
    expect(empty.ok ? [] : Object.keys(empty.errors)).toEqual(schema['required'])
  }
})

test('401 and 403 have no body, 409 and 422 all five fields', () => {
  for (const { path } of routes) {
    const { responses } = postOf(path)
    expect(Object.keys(responses)).toEqual([
      '200',
      '202',
      '401',
      '403',
      '404',
      '409',
      '422',
      '429',
      '500',
      '503',
    ])
    for (const status of ['401', '403']) expect(responses[status]!.content).toBeUndefined()
    for (const status of ['409', '422'])
      expect(responses[status]!.content!['application/json'].schema['required']).toEqual([
        'message',
        'errors',
        'record_errors',
        'conflicts',
        'requestId',
      ])
  }
})

test('it is served, and part of the reference page', async () => {
  const { addresses } = await serve({
    main: [createDocsSurface([{ name: 'direct', document: directDocument }])],
  })
  const json = await request(`${addresses.main}/docs/direct.json`)
  expect(json.body['openapi']).toBe('3.1.0')
  const page = await request(`${addresses.main}/docs`)
  for (const { path } of routes) expect(page.text).toContain(path)
  expect(page.text).toContain('callback_details.custom_fields')
})
