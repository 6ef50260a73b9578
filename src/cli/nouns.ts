/** What every command about a company's things needs: the company by its name, and refusals as sentences. */
import os from 'node:os'
import { readConfig } from '../config.ts'
import { showProblems, type Saved } from '../domain/saved.ts'
import { parseId, showId, type IdPrefix } from '../lib/ids.ts'
import { recordAudit } from '../store/audit.ts'
import { findCompanyByName, type Company } from '../store/companies.ts'
import type { Queryable } from '../store/db.ts'
import { CommandError, UsageError } from './command.ts'
import { withDatabase, type Workplace } from './database.ts'

export const withCompany = <T>(
  name: string | undefined,
  work: (company: Company, workplace: Workplace) => Promise<T>,
): Promise<T> =>
  withDatabase(readConfig(), async (workplace) => {
    const company = await findCompanyByName(workplace.db, name ?? '')
    if (!company) throw new CommandError(`There is no company "${name}": see "pombo company list".`)
    return work(company, workplace)
  })

export function must<T>(result: Saved<T> | undefined, what: string): T {
  if (result === undefined) throw new CommandError(`There is no such ${what}.`)
  if (!result.ok) throw new CommandError(`The ${what} was not saved: ${showProblems(result.problems)}.`)
  return result.value
}

export function found<T>(thing: T | undefined, what: string): T {
  if (thing === undefined) throw new CommandError(`There is no such ${what}.`)
  return thing
}

/** The inner id of one that was shown (`lin_0198…`). */
export function readId(prefix: IdPrefix, shown: string | undefined): string {
  const id = parseId(prefix, shown ?? '')
  if (id === undefined) throw new UsageError(`"${shown}" is not an id: it looks like ${prefix}_0198….`)
  return id
}

export const audit = (
  db: Queryable,
  company: Company,
  entry: { action: string; noun: string; prefix: IdPrefix; id: string },
): Promise<void> =>
  recordAudit(db, {
    companyId: company.id,
    actor: actorName(),
    action: entry.action,
    noun: entry.noun,
    nounId: showId(entry.prefix, entry.id),
  })

/** Who the audit log names for what is done here. */
export const actorName = (): string => `command line (${userName()})`

/** A container may run under a number that has no name. */
function userName(): string {
  try {
    return os.userInfo().username
  } catch {
    return String(process.getuid?.() ?? 'unknown')
  }
}

export function readWholeNumber(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (!/^\d{1,15}$/.test(text)) throw new UsageError(`--${option} is "${text}", but must be a whole number.`)
  return Number(text)
}

export function readOneOf<T extends string>(
  option: string,
  text: string | undefined,
  values: readonly T[],
): T {
  const value = values.find((candidate) => candidate === text)
  if (value === undefined)
    throw new UsageError(
      `${option} is ${text === undefined ? 'missing' : `"${text}"`}, but must be one of ${values.join(', ')}.`,
    )
  return value
}
