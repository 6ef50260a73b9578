/** The file of `pombo apply`: a company as people write it down, read with the line of every mistake. */
import { Type, type Static } from 'typebox'
import { Value } from 'typebox/value'
import { isMap, isNode, isPair, isScalar, LineCounter, parseDocument, type Document } from 'yaml'
import { apis, channels } from '../domain/channel.ts'
import { ruleKinds } from '../domain/rule.ts'
import { userRoles } from '../store/users.ts'
import { TemplateFile } from './template-file.ts'

const strict = { additionalProperties: false }
const names = Type.Array(Type.String({ minLength: 1 }))
const oneOf = <const T extends readonly string[]>(values: T) => Type.Unsafe<T[number]>({ enum: [...values] })

const Segment = Type.Object({ name: Type.String(), clientCode: Type.Optional(Type.String()) }, strict)

const Line = Type.Object(
  {
    name: Type.String(),
    channel: oneOf(channels),
    countryCode: Type.Optional(Type.Integer()),
    phoneNumber: Type.Optional(Type.Integer()),
    email: Type.Optional(Type.String()),
    driver: Type.String(),
    settings: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    isDefault: Type.Optional(Type.Boolean()),
    isProspect: Type.Optional(Type.Boolean()),
    isEnabled: Type.Optional(Type.Boolean()),
    ratePerSecond: Type.Optional(Type.Number()),
    inFlightLimit: Type.Optional(Type.Integer()),
    segments: Type.Optional(names),
    failover: Type.Optional(names),
  },
  strict,
)

export const weekdays = [
  'monday',
  'tuesday',
  'wednesday',
  'thursday',
  'friday',
  'saturday',
  'sunday',
] as const

const spans = Type.Optional(Type.Array(Type.String({ pattern: '^\\d\\d:\\d\\d-\\d\\d:\\d\\d$' })))
const Hours = Type.Object(
  {
    monday: spans,
    tuesday: spans,
    wednesday: spans,
    thursday: spans,
    friday: spans,
    saturday: spans,
    sunday: spans,
  },
  strict,
)

const Rule = Type.Object(
  {
    name: Type.String(),
    kind: oneOf(ruleKinds),
    action: Type.Optional(oneOf(['block', 'defer'])),
    isEnabled: Type.Optional(Type.Boolean()),
    apis: Type.Optional(Type.Array(oneOf(apis))),
    channels: Type.Optional(Type.Array(oneOf(channels))),
    segments: Type.Optional(names),
    position: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000 })),
    list: Type.Optional(Type.String()),
    timeZone: Type.Optional(Type.String()),
    hours: Type.Optional(Hours),
    holidays: Type.Optional(Type.Array(Type.String())),
    limit: Type.Optional(Type.Integer()),
    period: Type.Optional(oneOf(['hour', 'day', 'week', 'month'])),
    withinMinutes: Type.Optional(Type.Integer()),
  },
  strict,
)

const User = Type.Object(
  {
    name: Type.String(),
    role: oneOf(userRoles),
    isEnabled: Type.Optional(Type.Boolean()),
    password: Type.Optional(Type.String()),
  },
  strict,
)

export const CompanyFile = Type.Object(
  {
    company: Type.String({ minLength: 1 }),
    settings: Type.Optional(
      Type.Object(
        {
          timeZone: Type.Optional(Type.String()),
          tokenTtlSeconds: Type.Optional(Type.Integer()),
          attendanceIdleHours: Type.Optional(Type.Integer()),
          unknownPolicy: Type.Optional(oneOf(['leave', 'send_again'])),
        },
        strict,
      ),
    ),
    segments: Type.Optional(Type.Array(Segment)),
    restrictionLists: Type.Optional(names),
    users: Type.Optional(Type.Array(User)),
    lines: Type.Optional(Type.Array(Line)),
    templates: Type.Optional(Type.Array(TemplateFile)),
    rules: Type.Optional(Type.Array(Rule)),
  },
  strict,
)

export type CompanyFile = Static<typeof CompanyFile>
export type LineFile = NonNullable<CompanyFile['lines']>[number]
export type RuleFile = NonNullable<CompanyFile['rules']>[number]
export type UserFile = NonNullable<CompanyFile['users']>[number]

export type Path = readonly (string | number)[]
export type FileProblem = { path: Path; message: string }

/** One or several things are wrong with what the file says; nothing was changed. */
export class FileRefused extends Error {
  readonly problems: FileProblem[]
  constructor(problems: FileProblem[]) {
    super('the file was refused')
    this.problems = problems
  }
}

export type ReadFile = { file: CompanyFile; lineOf(path: Path): number }

/** `variable` gives the environment's value of a name, for `env:NAME`. */
export type Variable = (name: string) => string | undefined

export function readCompanyFile(
  text: string,
  variable: Variable,
): { ok: true; read: ReadFile } | { ok: false; problems: { line: number; path: string; message: string }[] } {
  const counter = new LineCounter()
  const document = parseDocument(text, { lineCounter: counter, uniqueKeys: true })
  const [fault] = document.errors
  if (fault) {
    const message = `is not YAML: ${fault.message.split(' at line ')[0]!}`
    return { ok: false, problems: [{ line: fault.linePos?.[0].line ?? 1, path: '', message }] }
  }
  const lineOf = (path: Path) => counter.linePos(offsetOf(document, path)).line || 1
  const refuse = (problems: FileProblem[]) => ({
    ok: false as const,
    problems: problems.map(({ path, message }) => ({ line: lineOf(path), path: showPath(path), message })),
  })
  let given: unknown
  try {
    given = document.toJS({ maxAliasCount: 100 })
  } catch (error) {
    return refuse([{ path: [], message: error instanceof Error ? error.message : 'cannot be read' }])
  }
  const problems: FileProblem[] = []
  const resolved = resolveVariables(given, [], variable, problems)
  if (problems.length > 0) return refuse(problems)
  if (Value.Check(CompanyFile, resolved)) return { ok: true, read: { file: resolved, lineOf } }
  return refuse(shapeProblems(resolved))
}

export const showPath = (path: Path): string =>
  path.map((part, at) => (typeof part === 'number' ? `[${part}]` : `${at === 0 ? '' : '.'}${part}`)).join('')

/** Twice as deep as anything that a company has. */
const maxDepth = 20

/** Only where secrets stand: anywhere else `env:` is just text. */
function resolveVariables(value: unknown, path: Path, variable: Variable, problems: FileProblem[]): unknown {
  // An alias may hold itself: such a thing has no end.
  if (path.length > maxDepth) {
    problems.push({ path: path.slice(0, 3), message: 'is nested too deeply' })
    return undefined
  }
  if (Array.isArray(value))
    return value.map((item, at) => resolveVariables(item, [...path, at], variable, problems))
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [
        name,
        resolveVariables(item, [...path, name], variable, problems),
      ]),
    )
  const isPlace =
    (path[0] === 'lines' && path[2] === 'settings') || (path[0] === 'users' && path[2] === 'password')
  const name =
    typeof value === 'string' && isPlace ? /^env:([A-Za-z_][A-Za-z0-9_]*)$/.exec(value)?.[1] : undefined
  if (name === undefined) return value
  const found = variable(name)
  if (found === undefined) problems.push({ path, message: `names the variable ${name}, which is not set` })
  return found ?? value
}

function shapeProblems(value: unknown): FileProblem[] {
  const errors = Value.Errors(CompanyFile, value)
  const unions = errors
    .filter(({ keyword }) => keyword === 'anyOf')
    .map(({ schemaPath }) => `${schemaPath}/anyOf/`)
  return errors
    .filter(
      ({ keyword, schemaPath }) =>
        keyword !== 'boolean' && !unions.some((union) => schemaPath.startsWith(union)),
    )
    .flatMap((error): FileProblem[] => {
      const path = error.instancePath
        .split('/')
        .slice(1)
        .map((part) => (/^\d+$/.test(part) ? Number(part) : part.replaceAll('~1', '/').replaceAll('~0', '~')))
      if (error.keyword === 'required')
        return error.params.requiredProperties.map((name) => ({
          path: [...path, name],
          message: 'is missing',
        }))
      if (error.keyword === 'additionalProperties')
        return error.params.additionalProperties.map((name) => ({
          path: [...path, name],
          message: 'is not known here: it may be misspelt',
        }))
      return [{ path, message: shapeMessage(error) }]
    })
}

function shapeMessage(error: ReturnType<typeof Value.Errors>[number]): string {
  if (error.keyword === 'enum') return `must be one of ${error.params.allowedValues.join(', ')}`
  if (error.keyword === 'anyOf') return 'is of no form that is known here'
  if (error.keyword === 'pattern') return 'must look like 08:00-18:00'
  if (error.keyword === 'type')
    return `must be ${typeNames[String(error.params.type)] ?? String(error.params.type)}`
  return error.message
}

const typeNames: Record<string, string> = {
  string: 'a text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a group of fields',
}

/** Where the deepest part of the path that is there begins; a key rather than its value. */
function offsetOf(document: Document, path: Path): number {
  let node: unknown = document.contents
  let offset = isNode(node) ? (node.range?.[0] ?? 0) : 0
  for (const part of path) {
    if (isMap(node)) {
      const pair = node.items.find((item) => isPair(item) && isScalar(item.key) && item.key.value === part)
      if (!pair) break
      offset = isNode(pair.key) ? (pair.key.range?.[0] ?? offset) : offset
      node = pair.value
    } else {
      const item: unknown =
        typeof part === 'number' && isNode(node) && 'get' in node
          ? (node as { get(at: number, keep: true): unknown }).get(part, true)
          : undefined
      if (!isNode(item)) break
      offset = item.range?.[0] ?? offset
      node = item
    }
  }
  return offset
}
