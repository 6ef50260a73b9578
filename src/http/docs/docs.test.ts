import { expect, test } from 'vitest'
import { request } from '../../../test/harness/http.ts'
import { serve } from '../test-server.ts'
import { unifiedDocument } from '../unified/openapi.ts'
import { createDocsSurface } from './index.ts'
import { createOpenApi, forOpenApi } from './openapi.ts'

test('the page, its style and each OpenAPI document are served, and no script may run', async () => {
  const odd = createOpenApi({ title: '<script>alert(1)</script>', version: '1', description: '' }, [])
  const surface = createDocsSurface([
    { name: 'unified', document: unifiedDocument },
    { name: 'odd', document: odd },
  ])
  const { addresses } = await serve({ main: [surface] })
  const page = await request(`${addresses.main}/docs`)
  expect(page.status).toBe(200)
  expect(page.headers['content-type']).toBe('text/html; charset=utf-8')
  expect(page.headers['content-security-policy']).toContain("default-src 'none'")
  expect(page.text).not.toContain('<script')
  expect(page.text).toContain('/v1/sendmessage')
  expect(page.text).toContain('discardSettings.InAttendance')
  expect((await request(`${addresses.main}/docs/docs.css`)).headers['content-type']).toBe(
    'text/css; charset=utf-8',
  )
  const json = await request(`${addresses.main}/docs/unified.json`)
  expect(json.body['openapi']).toBe('3.1.0')
  expect(Object.keys(json.body['paths'] as object)).toEqual(['/v1/login', '/v1/sendmessage'])
})

test('the document says what the reader does', () => {
  const send = unifiedDocument.paths['/v1/sendmessage']!['post']!
  const schema = send.requestBody!.content['application/json'].schema
  expect(schema['required']).toEqual(['platformPrivateToken', 'text', 'channel', 'destination'])
  expect(JSON.stringify(schema)).not.toContain('"x-')
  const properties = schema['properties'] as Record<string, Record<string, unknown>>
  expect(properties['templateName']!['type']).toEqual(['string', 'null'])
  const contact = properties['contact']!['properties'] as Record<
    string,
    { prefixItems: { maxLength: number }[] }
  >
  expect(contact['jokers']!.prefixItems.map(({ maxLength }) => maxLength)).toEqual([300, 300, 300, 300, 3000])
  expect(forOpenApi({ type: 'integer', minimum: 1, 'x-zero-is-not-given': true })).toEqual({
    type: 'integer',
    minimum: 0,
  })
})
