/** Lines that share one hook address: a provider's account with several numbers reports all of them to one place. */
import type { Queryable } from './db.ts'

export type SettingOfLine = { companyId: string; driver: string; setting: string; value: string }

/** Within the company whose line proved that the call is genuine. */
export async function findLineBySetting(
  db: Queryable,
  wanted: SettingOfLine,
): Promise<{ id: string; companyId: string } | undefined> {
  // Nothing that is stored holds a NUL, and PostgreSQL would not even compare it.
  if (wanted.value.includes('\0')) return undefined
  const [line] = await db.query<{ id: string; companyId: string }>(
    {
      name: 'hook_line_by_setting',
      text: `select id, company_id as "companyId" from line
        where company_id = $1 and driver = $2 and settings->>$3 = $4 order by created_at, id limit 1`,
    },
    [wanted.companyId, wanted.driver, wanted.setting, wanted.value],
  )
  return line
}
