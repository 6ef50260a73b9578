/**
 * What a sender keeps in memory of a company: lines, templates, segments, attendants, rules. Triggers raise the
 * company's catalogue version with every change; each accepting transaction compares it and throws away what is
 * old, so the copy is exact although it is not read again for every message.
 */
import { nameKey } from '../domain/channel.ts'
import { compileTemplate, type CompiledTemplate } from '../domain/compiled-template.ts'
import type { Line } from '../domain/line.ts'
import type { Rule, RuleSettings } from '../domain/rule.ts'
import type { Template } from '../domain/template.ts'
import type { Queryable } from './db.ts'
import type { ListContents } from './restrictions.ts'

export type NamedSegment = { id: string; name: string; clientCode: string | null }
export type Attendant = { id: string; name: string }

export type Catalogue = {
  companyId: string
  companyName: string
  version: number
  timeZone: string
  attendanceIdleHours: number
  lines: Line[]
  templatesByName: Map<string, CompiledTemplate>
  templatesByCode: Map<string, CompiledTemplate>
  segmentsById: Map<string, NamedSegment>
  segmentsByName: Map<string, NamedSegment>
  segmentsByCode: Map<string, NamedSegment>
  /** Users that may attend, by name. */
  attendantsByName: Map<string, Attendant>
  attendantsById: Map<string, Attendant>
  rules: Rule[]
  /** Restriction lists that any rule looks at. Narrowing is the rule's own: a hit on the others is ignored. */
  lists: ListContents[]
}

const loadStatement = {
  name: 'load_catalogue',
  text: `
select c.id, c.name, c.catalogue_version as version, c.time_zone as "timeZone", c.attendance_idle_hours as "attendanceIdleHours",
  (select coalesce(json_agg(json_build_object('id', l.id, 'name', l.name, 'channel', l.channel, 'countryCode', l.country_code,
      'phoneNumber', l.phone_number, 'email', l.email, 'driver', l.driver, 'isDefault', l.is_default, 'isProspect', l.is_prospect,
      'isEnabled', l.is_enabled, 'isPaused', l.paused_at is not null, 'ratePerSecond', l.rate_per_second,
      'segmentIds', l.segment_ids, 'failoverLineIds', l.failover_line_ids) order by l.created_at, l.id), '[]')
    from line l where l.company_id = c.id) as lines,
  (select coalesce(json_agg(json_build_object('id', t.id, 'name', t.name, 'code', t.code, 'channel', t.channel, 'kind', t.kind,
      'isEnabled', t.is_enabled, 'approval', t.approval, 'content', t.content)), '[]')
    from template t where t.company_id = c.id) as templates,
  (select coalesce(json_agg(json_build_object('id', s.id, 'name', s.name, 'clientCode', s.client_code)), '[]')
    from segment s where s.company_id = c.id) as segments,
  (select coalesce(json_agg(json_build_object('id', u.id, 'name', u.name)), '[]')
    from app_user u where u.company_id = c.id and u.disabled_at is null
     and u.role in ('administrator', 'supervisor', 'attendant')) as attendants,
  (select coalesce(json_agg(json_build_object('id', r.id, 'name', r.name, 'action', r.action, 'apis', r.apis,
      'channels', r.channels, 'segmentIds', r.segment_ids, 'kind', r.kind, 'settings', r.settings,
      'listName', (select x.name from restriction_list x where x.id::text = r.settings->>'listId' and x.company_id = c.id))
      order by r.position, r.id), '[]')
    from rule r where r.company_id = c.id and r.is_enabled) as rules,
  (select coalesce(json_agg(json_build_object('id', l.id,
      'exact', (select coalesce(json_agg(field), '[]') from restriction_shape where list_id = l.id and length = 0),
      'prefixed', (select coalesce(json_agg(distinct field), '[]') from restriction_shape where list_id = l.id and length > 0))), '[]')
    from restriction_list l where l.company_id = c.id) as lists
from company c where c.id = any($1)`,
}

type LoadedRow = {
  id: string
  name: string
  version: number
  timeZone: string
  attendanceIdleHours: number
  lines: Line[]
  templates: Template[]
  segments: NamedSegment[]
  attendants: Attendant[]
  rules: (Omit<Rule, 'settings'> & {
    kind: RuleSettings['kind']
    settings: object
    listName: string | null
  })[]
  lists: ListContents[]
}

export async function loadCatalogues(db: Queryable, companyIds: readonly string[]): Promise<Catalogue[]> {
  const rows = await db.query<LoadedRow>(loadStatement, [companyIds])
  return rows.map(shapeCatalogue)
}

function shapeCatalogue(row: LoadedRow): Catalogue {
  const templates = row.templates.map(compileTemplate)
  const rules = row.rules.map(({ kind, settings, listName, ...rule }): Rule => ({
    ...rule,
    settings: {
      ...settings,
      kind,
      ...(kind === 'restriction_list' && { listName: listName ?? '' }),
    } as RuleSettings,
  }))
  return {
    companyId: row.id,
    companyName: row.name,
    version: row.version,
    timeZone: row.timeZone,
    attendanceIdleHours: row.attendanceIdleHours,
    // JSON leaves nulls where a line has no number or address.
    lines: row.lines.map((line) => ({
      ...line,
      countryCode: line.countryCode ?? undefined,
      phoneNumber: line.phoneNumber ?? undefined,
      email: line.email ?? undefined,
    })),
    templatesByName: new Map(templates.map((compiled) => [nameKey(compiled.template.name), compiled])),
    templatesByCode: new Map(templates.map((compiled) => [nameKey(compiled.template.code), compiled])),
    segmentsById: new Map(row.segments.map((segment) => [segment.id, segment])),
    segmentsByName: new Map(row.segments.map((segment) => [nameKey(segment.name), segment])),
    segmentsByCode: new Map(
      row.segments.flatMap((segment) =>
        segment.clientCode ? [[nameKey(segment.clientCode), segment] as const] : [],
      ),
    ),
    attendantsByName: new Map(row.attendants.map((user) => [nameKey(user.name), user])),
    attendantsById: new Map(row.attendants.map((user) => [user.id, user])),
    rules,
    lists: row.lists.filter(({ id }) =>
      rules.some(({ settings }) => settings.kind === 'restriction_list' && settings.listId === id),
    ),
  }
}

const maxCompaniesKept = 1000

export type Catalogues = ReadonlyMap<string, Catalogue>

/** Catalogues by company, loaded when missing or stale, the least recently loaded dropped first. */
export class CatalogueCache {
  readonly #kept = new Map<string, Catalogue>()
  readonly #db: Queryable

  constructor(db: Queryable) {
    this.#db = db
  }

  get(companyId: string): Catalogue | undefined {
    return this.#kept.get(companyId)
  }

  /** Unless somebody else has loaded a newer one by now. */
  drop(companyId: string, stale: Catalogue | undefined): void {
    if (this.#kept.get(companyId) === stale) this.#kept.delete(companyId)
  }

  /**
   * The copies that one batch works with from its first look to its last: those kept here may be dropped and loaded
   * anew by another batch between any two of its round trips. A company that does not exist has none.
   */
  async ensure(companyIds: Iterable<string>): Promise<Catalogues> {
    const found = new Map<string, Catalogue>()
    const missing: string[] = []
    for (const id of new Set(companyIds)) {
      const known = this.#kept.get(id)
      if (known) found.set(id, known)
      else missing.push(id)
    }
    if (missing.length === 0) return found
    for (const catalogue of await loadCatalogues(this.#db, missing)) {
      this.#kept.set(catalogue.companyId, catalogue)
      found.set(catalogue.companyId, catalogue)
    }
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= maxCompaniesKept) break
      this.#kept.delete(oldest)
    }
    return found
  }
}
