/** A company as a file of `pombo apply`, without secrets and passwords. */
import { stringify } from 'yaml'
import type { HoursOfDay } from '../domain/rule.ts'
import { findDriver } from '../drivers/registry.ts'
import { secretSettings } from '../drivers/settings.ts'
import type { Company } from '../store/companies.ts'
import type { Queryable } from '../store/db.ts'
import { listLines, splitSecrets, type LineRecord } from '../store/lines.ts'
import { listRestrictionLists } from '../store/restrictions.ts'
import { listRules, type RuleRecord } from '../store/rules-admin.ts'
import { listSegments } from '../store/segments.ts'
import { listTemplates } from '../store/templates.ts'
import { listUsers } from '../store/users.ts'
import { writeHours } from './apply-rules.ts'
import type { CompanyFile, LineFile, RuleFile } from './company-file.ts'
import { writeTemplate } from './template-file.ts'

export async function describeCompany(db: Queryable, company: Company): Promise<CompanyFile> {
  const segments = await listSegments(db, company.id)
  const lists = await listRestrictionLists(db, company.id)
  const lines = await listLines(db, company.id)
  const rules = await listRules(db, company.id)
  const templates = await listTemplates(db, company.id)
  const users = await listUsers(db, company.id)
  const nameOf = (things: readonly { id: string; name: string }[]) => {
    const names = new Map(things.map(({ id, name }) => [id, name]))
    return (ids: readonly string[]) => ids.flatMap((id) => names.get(id) ?? [])
  }
  const segmentNames = nameOf(segments)
  const { timeZone, tokenTtlSeconds, attendanceIdleHours, unknownPolicy } = company
  return {
    company: company.name,
    settings: { timeZone, tokenTtlSeconds, attendanceIdleHours, unknownPolicy },
    segments: segments.map(({ name, clientCode }) => ({ name, ...(clientCode !== null && { clientCode }) })),
    restrictionLists: lists.map(({ name }) => name),
    users: users.map(({ name, role, disabledAt }) => ({ name, role, isEnabled: disabledAt === null })),
    lines: lines.map((line) => describeLine(line, segmentNames, nameOf(lines))),
    templates: templates.map(writeTemplate),
    rules: rules.map((rule) => describeRule(rule, segmentNames, nameOf(lists))),
  }
}

type NamesOf = (ids: readonly string[]) => string[]

function describeLine(line: LineRecord, segmentNames: NamesOf, lineNames: NamesOf): LineFile {
  const { name, channel, countryCode, phoneNumber, email, driver } = line
  const { isDefault, isProspect, isEnabled, ratePerSecond, inFlightLimit } = line
  const schema = findDriver(driver)?.settings
  return {
    name,
    channel,
    ...(channel === 'email' ? { email } : { countryCode, phoneNumber }),
    driver,
    // Secrets are stored apart; this only makes sure.
    settings: splitSecrets(line.settings, schema ? secretSettings(schema) : []).plain,
    isDefault,
    isProspect,
    isEnabled,
    ratePerSecond,
    inFlightLimit,
    segments: segmentNames(line.segmentIds),
    failover: lineNames(line.failoverLineIds),
  }
}

function describeRule(rule: RuleRecord, segmentNames: NamesOf, listNames: NamesOf): RuleFile {
  const { name, kind, action, isEnabled, apis, channels, position } = rule
  const { listId, weekdays, ...settings } = rule.settings
  return {
    name,
    kind,
    action,
    isEnabled,
    apis,
    channels,
    segments: segmentNames(rule.segmentIds),
    position,
    ...(typeof listId === 'string' && { list: listNames([listId])[0] ?? '' }),
    ...(Array.isArray(weekdays) && { hours: writeHours(weekdays as HoursOfDay[][]) }),
    ...(settings as Partial<RuleFile>),
  }
}

export const companyYaml = (file: CompanyFile): string =>
  `# The company "${file.company.replaceAll(/[\r\n]/g, ' ')}" for "pombo apply".
# Secrets and passwords are not in here: applied to the same company, those that are stored stay as they are.
# For another company add them to the settings of the lines, for example as password: env:SMTP_PASSWORD.
${stringify(file, { lineWidth: 110 })}`
