import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { ruleKinds } from '../../../src/domain/rule.ts'
import { request } from '../../harness/http.ts'
import { expectAccepted, useDirect } from './support.ts'

const d = useDirect()
const page = await readFile(new URL('../../../docs/api/direct.md', import.meta.url), 'utf8')

test('every curl command of the page is accepted as printed', async () => {
  const commands = [...page.matchAll(/^curl -s localhost:8080(\S+)([^{]+?) -d '([^']+)'$/gm)]
  expect(commands.map(([, path]) => path)).toEqual([
    '/v1/directmessage/sms',
    '/v1/directmessage/email',
    '/v1/directmessage/whatsapp',
  ])
  for (const [, path, options, body] of commands) {
    const headers = [...options!.matchAll(/-H ["']([^"':]+): ([^"']+)["']/g)].map(([, name, value]) => [
      name!.toLowerCase(),
      value!.replace('$TOKEN', d.company.directToken.token),
    ])
    // What curl says of -d when nobody says better; it would be refused.
    const type = { 'content-type': 'application/x-www-form-urlencoded' }
    expectAccepted(
      await request(`${d.app.url}${path}`, {
        body: body!,
        headers: { ...type, ...(Object.fromEntries(headers) as Record<string, string>) },
      }),
    )
  }
})

test('the page names every status and every kind of rule', () => {
  for (const status of [200, 202, 401, 403, 404, 409, 422, 429, 500, 503])
    expect(page).toContain(`| ${status}    |`)
  for (const kind of ruleKinds) expect(page).toContain(`\`${kind}\``)
})
