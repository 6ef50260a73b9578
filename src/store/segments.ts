/** Segments (the unified API calls them wallets): a name, and the client code by which callers know it. */
import { nameKey } from '../domain/channel.ts'
import { checkName, notSaved, saved, taken, type FieldProblem, type Saved } from '../domain/saved.ts'
import { newId } from '../lib/ids.ts'
import { isUniqueViolation, type Queryable } from './db.ts'

export type Segment = { id: string; companyId: string; name: string; clientCode: string | null }

export type SegmentInput = { name: string; clientCode?: string }

const columns = `id, company_id as "companyId", name, client_code as "clientCode"`

const check = (input: Partial<SegmentInput>): FieldProblem[] => [
  ...(input.name === undefined ? [] : checkName('name', input.name)),
  ...(input.clientCode === undefined ? [] : checkName('clientCode', input.clientCode)),
]

/** Which of the two is taken: asked only after a save was refused. */
async function takenProblems(db: Queryable, companyId: string, input: Partial<SegmentInput>, ownId?: string) {
  const rows = await db.query<{ name_key: string; client_code_key: string | null }>(
    `select name_key, client_code_key from segment
      where company_id = $1 and (name_key = $2 or client_code_key = $3) and id is distinct from $4`,
    [companyId, input.name && nameKey(input.name), input.clientCode && nameKey(input.clientCode), ownId],
  )
  const problems: FieldProblem[] = []
  if (input.name !== undefined && rows.some((row) => row.name_key === nameKey(input.name!)))
    problems.push(taken('name', input.name))
  if (
    input.clientCode !== undefined &&
    rows.some((row) => row.client_code_key === nameKey(input.clientCode!))
  )
    problems.push(taken('clientCode', input.clientCode))
  return problems
}

export async function createSegment(
  db: Queryable,
  companyId: string,
  input: SegmentInput,
): Promise<Saved<Segment>> {
  const problems = check(input)
  if (problems.length > 0) return notSaved(...problems)
  const [segment] = await db.query<Segment>(
    `insert into segment (id, company_id, name, name_key, client_code, client_code_key)
      values ($1, $2, $3, $4, $5, $6) on conflict do nothing returning ${columns}`,
    [
      newId(),
      companyId,
      input.name.trim(),
      nameKey(input.name),
      input.clientCode?.trim(),
      input.clientCode === undefined ? undefined : nameKey(input.clientCode),
    ],
  )
  return segment ? saved(segment) : notSaved(...(await takenProblems(db, companyId, input)))
}

export async function findSegmentByName(
  db: Queryable,
  companyId: string,
  name: string,
): Promise<Segment | undefined> {
  return (
    await db.query<Segment>(`select ${columns} from segment where company_id = $1 and name_key = $2`, [
      companyId,
      nameKey(name),
    ])
  )[0]
}

export async function getSegment(db: Queryable, companyId: string, id: string): Promise<Segment | undefined> {
  return (
    await db.query<Segment>(`select ${columns} from segment where company_id = $1 and id = $2`, [
      companyId,
      id,
    ])
  )[0]
}

export const listSegments = (db: Queryable, companyId: string): Promise<Segment[]> =>
  db.query<Segment>(`select ${columns} from segment where company_id = $1 order by id limit 10000`, [
    companyId,
  ])

export async function changeSegment(
  db: Queryable,
  companyId: string,
  id: string,
  changes: Partial<SegmentInput>,
): Promise<Saved<Segment> | undefined> {
  const problems = check(changes)
  if (problems.length > 0) return notSaved(...problems)
  try {
    const [segment] = await db.query<Segment>(
      `update segment set name = coalesce($3, name), name_key = coalesce($4, name_key),
          client_code = coalesce($5, client_code), client_code_key = coalesce($6, client_code_key)
        where company_id = $1 and id = $2 returning ${columns}`,
      [
        companyId,
        id,
        changes.name?.trim(),
        changes.name === undefined ? undefined : nameKey(changes.name),
        changes.clientCode?.trim(),
        changes.clientCode === undefined ? undefined : nameKey(changes.clientCode),
      ],
    )
    return segment && saved(segment)
  } catch (error) {
    // Inside a transaction nothing more can be asked, so the message is about the name the caller gave.
    if (isUniqueViolation(error))
      return notSaved({ field: 'name', message: 'or client code is already taken' })
    throw error
  }
}
