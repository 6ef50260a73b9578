import { expect, it } from 'vitest'
import { testDatabase } from '../../test/harness/database.ts'
import { makeCompany } from '../../test/harness/factories.ts'
import type { TemplateReport } from '../drivers/driver.ts'
import { silentLog } from '../lib/log.ts'
import { syncTemplates } from './sync-templates.ts'

it('takes over what the provider lists, for this company alone, and says what changed', async () => {
  const { db } = await testDatabase()
  const [company, other] = [await makeCompany(db), await makeCompany(db)]
  const [line] = company.lines.whatsapp
  const { name, language } = company.templates['image-header']!.content.provider!
  const list: TemplateReport[] = [
    { name, language, approval: 'rejected', reason: 'INVALID_FORMAT' },
    { name, language: 'xx', approval: 'disabled' },
    { name: 'theirs_alone', language, approval: 'approved' },
  ]
  const sync = () => syncTemplates({ db, log: silentLog }, line!, { listTemplates: async () => list })
  expect(await sync()).toMatchObject({
    known: 3,
    changes: [{ from: 'approved', to: 'rejected', reason: 'INVALID_FORMAT' }],
  })
  expect(await sync()).toMatchObject({ changes: [] })
  const approvals = await db.query(
    'select company_id, approval from template where id = any($1) order by approval',
    [[company.templates['image-header']!.id, other.templates['image-header']!.id]],
  )
  expect(approvals).toEqual([
    { company_id: other.id, approval: 'approved' },
    { company_id: company.id, approval: 'rejected' },
  ])
  expect(await syncTemplates({ db, log: silentLog }, line!, {})).toBeUndefined()
})
