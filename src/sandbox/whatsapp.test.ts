import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Sandbox } from './sandbox.ts'
import { callApi, callGraph, startReceiver, startTestSandbox, until } from './testing.ts'

const phoneId = '100000000000001'
const business = '+5531955550001'
let sandbox: Sandbox
let receiver: Awaited<ReturnType<typeof startReceiver>>

beforeAll(async () => {
  receiver = await startReceiver()
  sandbox = await startTestSandbox({
    graph: {
      phoneNumbers: [{ id: phoneId, number: business, verifiedName: 'Loja' }],
      webhookUrl: receiver.url,
      templates: [
        {
          name: 'pedido',
          language: 'pt_BR',
          category: 'UTILITY',
          components: [
            { type: 'HEADER', format: 'TEXT', text: 'Pedido {{1}}', example: { header_text: ['1'] } },
            { type: 'BODY', text: 'Olá {{1}}, chega {{2}}.', example: { body_text: [['a', 'b']] } },
            { type: 'FOOTER', text: 'Loja' },
            {
              type: 'BUTTONS',
              buttons: [
                { type: 'QUICK_REPLY', text: 'Obrigado' },
                { type: 'URL', text: 'Ver', url: 'https://loja.example/{{1}}', example: ['1'] },
              ],
            },
          ],
        },
        {
          name: 'codigo',
          language: 'pt_BR',
          category: 'AUTHENTICATION',
          components: [
            { type: 'BODY', add_security_recommendation: true },
            { type: 'BUTTONS', buttons: [{ type: 'OTP', otp_type: 'COPY_CODE', text: 'Copiar código' }] },
          ],
        },
        {
          name: 'vitrine',
          language: 'pt_BR',
          category: 'MARKETING',
          components: [
            { type: 'BODY', text: 'Novidades' },
            {
              type: 'CAROUSEL',
              cards: [1, 2].map(() => ({
                components: [
                  { type: 'HEADER', format: 'IMAGE' },
                  { type: 'BODY', text: 'Produto {{1}} hoje', example: { body_text: [['x']] } },
                  { type: 'BUTTONS', buttons: [{ type: 'QUICK_REPLY', text: 'Quero' }] },
                ],
              })),
            },
          ],
        },
        {
          name: 'com_nomes',
          language: 'pt_BR',
          category: 'UTILITY',
          parameter_format: 'NAMED',
          components: [
            { type: 'BODY', text: 'Oi {{nome}}, total {{valor}}.', example: { body_text_named_params: [] } },
          ],
        },
      ],
    },
  })
})
afterAll(async () => {
  await sandbox.stop()
  await receiver.stop()
})

const text = (value: string) => ({ type: 'text', text: value })
const send = (to: string, message: object) =>
  callGraph(sandbox, `/${phoneId}/messages`, 'POST', { messaging_product: 'whatsapp', to, ...message })
const sendTemplate = (to: string, name: string, components?: object[], more: object = {}) =>
  send(to, { type: 'template', template: { name, language: { code: 'pt_BR' }, components }, ...more })

async function upload(mimeType: string, content = 'bytes') {
  const form = new FormData()
  form.set('messaging_product', 'whatsapp')
  form.set('file', new Blob([content], { type: mimeType }), 'foto.png')
  const answer = await fetch(`${sandbox.graph.baseUrl}/${phoneId}/media`, {
    method: 'POST',
    headers: { authorization: `Bearer ${sandbox.graph.accessToken}` },
    body: form,
  })
  return (await answer.json()) as { id: string }
}

test('a template by plain HTTP: accepted, shown, sent and delivered by signed webhooks', async () => {
  const { status, body } = await sendTemplate(
    '+5531988880001',
    'pedido',
    [
      { type: 'header', parameters: [text('42')] },
      { type: 'body', parameters: [text('Zé'), text('amanhã')] },
      { type: 'button', sub_type: 'url', index: '1', parameters: [text('p/42')] },
    ],
    { biz_opaque_callback_data: 'msg_1' },
  )
  expect(status).toBe(200)
  expect(body).toMatchObject({
    messaging_product: 'whatsapp',
    contacts: [{ input: '+5531988880001', wa_id: '5531988880001' }],
    messages: [{ message_status: 'accepted' }],
  })
  const wamid: string = body.messages[0].id
  expect(wamid).toMatch(/^wamid\./)
  const { body: shown } = await callApi(sandbox, '/api/messages/wait?to=5531988880001&channel=whatsapp')
  expect(shown).toMatchObject({
    text: 'Olá Zé, chega amanhã.',
    whatsapp: {
      header: 'Pedido 42',
      footer: 'Loja',
      template: { name: 'pedido', category: 'UTILITY' },
      buttons: [
        { kind: 'quick_reply', text: 'Obrigado' },
        { kind: 'url', url: 'https://loja.example/p/42' },
      ],
    },
  })
  const told = await until(() => {
    const mine = receiver.statuses().filter(({ id }) => id === wamid)
    return mine.length === 2 ? mine : undefined
  })
  expect(told.map((item) => item.status)).toEqual(['sent', 'delivered'])
  expect(told[0]).toMatchObject({
    recipient_id: '5531988880001',
    biz_opaque_callback_data: 'msg_1',
    pricing: { pricing_model: 'PMP', category: 'utility' },
  })
  for (const { raw, headers, body: envelope } of receiver.caught) {
    const expected = createHmac('sha256', sandbox.graph.appSecret).update(raw).digest('hex')
    expect(headers['x-hub-signature-256']).toBe(`sha256=${expected}`)
    expect(envelope.entry[0].id).toBe(sandbox.graph.wabaId)
  }
})

test('an answer opens the window, arrives with \\u escapes, and free text then passes', async () => {
  const person = '5531988880002'
  expect((await send(person, { type: 'text', text: { body: 'Oi' } })).body.error.code).toBe(131047)
  const answer = { channel: 'whatsapp', from: person, to: business, text: 'Olá, é você?' }
  expect((await callApi(sandbox, '/api/answers', 'POST', answer)).status).toBe(200)
  const message = await until(() => receiver.messages().find(({ from }) => from === person))
  expect(message).toMatchObject({ type: 'text', text: { body: 'Olá, é você?' } })
  expect(receiver.caught.some(({ raw }) => raw.includes(String.raw`Ol\u00e1, \u00e9 voc\u00ea?`))).toBe(true)
  expect((await send(person, { type: 'text', text: { body: 'Oi' } })).status).toBe(200)
})

test('pressing a button reads the message and answers with its payload', async () => {
  const person = '5531988880003'
  const sent = await sendTemplate(person, 'pedido', [
    { type: 'header', parameters: [text('1')] },
    { type: 'body', parameters: [text('A'), text('B')] },
    {
      type: 'button',
      sub_type: 'quick_reply',
      index: '0',
      parameters: [{ type: 'payload', payload: 'THANKS' }],
    },
    { type: 'button', sub_type: 'url', index: '1', parameters: [text('1')] },
  ])
  const { body: shown } = await callApi(sandbox, `/api/messages/wait?to=${person}`)
  expect((await callApi(sandbox, `/api/messages/${shown.id}/button`, 'POST', { index: 0 })).status).toBe(200)
  const press = await until(() => receiver.messages().find(({ from }) => from === person))
  expect(press).toMatchObject({
    type: 'button',
    button: { payload: 'THANKS', text: 'Obrigado' },
    context: { id: sent.body.messages[0].id },
  })
  await until(() =>
    receiver.statuses().find(({ id, status }) => id === sent.body.messages[0].id && status === 'read'),
  )
  const link = await callApi(sandbox, `/api/messages/${shown.id}/button`, 'POST', { index: 1 })
  expect(link.body.url).toBe('https://loja.example/1')
})

test('verification: the code in body and button; a carousel with uploaded pictures; named parameters', async () => {
  const code = [
    { type: 'body', parameters: [text('123456')] },
    { type: 'button', sub_type: 'url', index: '0', parameters: [text('123456')] },
  ]
  expect((await sendTemplate('5531988880004', 'codigo', code)).status).toBe(200)
  const { body: verification } = await callApi(sandbox, '/api/messages/wait?to=5531988880004')
  expect(verification.text).toBe(
    '*123456* é seu código de verificação. Para sua segurança, não o compartilhe.',
  )
  expect(verification.whatsapp.buttons).toEqual([
    { kind: 'copy_code', text: 'Copiar código', code: '123456' },
  ])

  const ids = await Promise.all([upload('image/png'), upload('image/jpeg')])
  const cards = ids.map(({ id }, index) => ({
    card_index: index,
    components: [
      { type: 'header', parameters: [{ type: 'image', image: { id } }] },
      { type: 'body', parameters: [text(`P${index}`)] },
    ],
  }))
  expect((await sendTemplate('5531988880005', 'vitrine', [{ type: 'carousel', cards }])).status).toBe(200)
  const { body: carousel } = await callApi(sandbox, '/api/messages/wait?to=5531988880005')
  expect(carousel.whatsapp.cards.map((card: { text: string }) => card.text)).toEqual([
    'Produto P0 hoje',
    'Produto P1 hoje',
  ])
  const picture = await fetch(`${sandbox.url}/api/messages/${carousel.id}/media/1`)
  expect(picture.headers.get('content-type')).toBe('image/jpeg')

  const named = [
    { ...text('9,90'), parameter_name: 'valor' },
    { ...text('Ana'), parameter_name: 'nome' },
  ]
  expect(
    (await sendTemplate('5531988880006', 'com_nomes', [{ type: 'body', parameters: named }])).status,
  ).toBe(200)
  expect((await callApi(sandbox, '/api/messages/wait?to=5531988880006')).body.text).toBe(
    'Oi Ana, total 9,90.',
  )
})

test('media: upload, facts, download by the address given, delete', async () => {
  const { id } = await upload('image/png', 'picture bytes')
  const facts = (await callGraph(sandbox, `/${id}`)).body
  expect(facts).toMatchObject({ id, mime_type: 'image/png', file_size: 13 })
  const without = await fetch(facts.url)
  expect(without.status).toBe(401)
  const bytes = await fetch(facts.url, { headers: { authorization: `Bearer ${sandbox.graph.accessToken}` } })
  expect(await bytes.text()).toBe('picture bytes')
  expect((await callGraph(sandbox, `/${id}`, 'DELETE')).body).toEqual({ success: true })
  expect((await callGraph(sandbox, `/${id}`)).body.error.code).toBe(100)
})

test('templates: created as pending, approved soon and told by webhook, listed in pages, edited, deleted', async () => {
  const { wabaId } = sandbox.graph
  const created = await callGraph(sandbox, `/${wabaId}/message_templates`, 'POST', {
    name: 'novo',
    language: 'pt_BR',
    category: 'utility',
    components: [{ type: 'BODY', text: 'Oi!' }],
  })
  expect(created.body).toMatchObject({ status: 'PENDING', category: 'UTILITY' })
  const update = await until(() => receiver.values().find((value) => value.message_template_name === 'novo'))
  expect(update).toMatchObject({ event: 'APPROVED', message_template_id: Number(created.body.id) })
  const first = await callGraph(
    sandbox,
    `/${wabaId}/message_templates?limit=3&fields=name,status,rejected_reason`,
  )
  expect(first.body.data).toHaveLength(3)
  expect(Object.keys(first.body.data[0]).toSorted()).toEqual(['id', 'name', 'rejected_reason', 'status'])
  const next = await fetch(first.body.paging.next, {
    headers: { authorization: `Bearer ${sandbox.graph.accessToken}` },
  })
  const names = [...first.body.data, ...((await next.json()) as { data: { name: string }[] }).data].map(
    ({ name }) => name,
  )
  expect(names).toEqual(['pedido', 'codigo', 'vitrine', 'com_nomes', 'novo'])
  const edited = await callGraph(sandbox, `/${created.body.id}`, 'POST', {
    components: [{ type: 'BODY', text: 'Oi de novo!' }],
  })
  expect(edited.body).toEqual({ success: true })
  expect((await callGraph(sandbox, `/${wabaId}/message_templates?name=novo`, 'DELETE')).body).toEqual({
    success: true,
  })
  expect((await callGraph(sandbox, `/${created.body.id}`)).body.error.code).toBe(100)
})

test('phone number facts, the account’s numbers, subscription', async () => {
  const facts = await callGraph(sandbox, `/${phoneId}?fields=throughput,display_phone_number`)
  expect(facts.body).toEqual({ id: phoneId, display_phone_number: business, throughput: { level: 'HIGH' } })
  expect(
    (await callGraph(sandbox, `/${sandbox.graph.wabaId}/phone_numbers`)).body.data[0].verified_name,
  ).toBe('Loja')
  expect((await callGraph(sandbox, `/${sandbox.graph.wabaId}/subscribed_apps`, 'POST')).body).toEqual({
    success: true,
  })
  expect((await callApi(sandbox, '/api/webhooks', 'POST')).body).toEqual({ ok: true, status: 200 })
})

test('people named by business-scoped id: no phone in the webhooks, and the id can be written to', async () => {
  await callApi(sandbox, '/api/settings', 'PUT', { whatsapp: { userIds: 'userId' } })
  await callApi(sandbox, '/api/answers', 'POST', {
    channel: 'whatsapp',
    from: '5531988880007',
    to: phoneId,
    text: 'sou eu',
  })
  const message = await until(() => receiver.messages().find((item) => item.text?.body === 'sou eu'))
  expect(message.from).toBeUndefined()
  expect(message.from_user_id).toMatch(/^BR\.[0-9a-f]{20}$/)
  const sent = await callGraph(sandbox, `/${phoneId}/messages`, 'POST', {
    messaging_product: 'whatsapp',
    recipient: message.from_user_id,
    type: 'text',
    text: { body: 'Oi' },
  })
  expect(sent.status).toBe(200)
  const told = await until(() => receiver.statuses().find(({ id }) => id === sent.body.messages[0].id))
  expect(told.recipient_id).toBeUndefined()
  expect(told.recipient_user_id).toBe(message.from_user_id)
  await callApi(sandbox, '/api/settings', 'PUT', { whatsapp: { userIds: 'phone' } })
})

test('a webhook that is refused comes again with the same bytes', async () => {
  const failing = await startReceiver((count) => (count < 3 ? 500 : 200))
  const other = await startTestSandbox({ graph: { webhookUrl: failing.url, webhookRetryMs: 1 } })
  const { id, number } = other.graph.phoneNumbers[0]!
  other.person.write({ channel: 'whatsapp', from: '+5531988880008', to: id, text: 'oi' })
  await until(() => failing.messages()[0])
  expect(failing.requests()).toBe(3)
  const { body } = await callApi(other, '/api/webhooks')
  expect(body.attempts.map(({ status }: { status: number }) => status)).toEqual([200, 500, 500])
  expect(failing.values()[0].metadata.display_phone_number).toBe(number.slice(1))
  await other.stop()
  await failing.stop()
})
