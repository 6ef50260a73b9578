/** The demo company: made once, in one transaction, with secrets that are random on every machine. */
import { randomBytes } from 'node:crypto'
import { mediaPath } from '../../domain/media.ts'
import { showProblems, type Saved } from '../../domain/saved.ts'
import type { Template } from '../../domain/template.ts'
import { compileText } from '../../domain/variables.ts'
import type { Sealer } from '../../lib/secrets.ts'
import { openAttendance } from '../../store/attendances.ts'
import { createCompany } from '../../store/companies.ts'
import { createContact } from '../../store/contacts.ts'
import type { Db, Queryable } from '../../store/db.ts'
import { createDirectToken } from '../../store/direct-tokens-admin.ts'
import { createLine, pauseLine, type LineInput } from '../../store/lines.ts'
import { createMediaItem } from '../../store/media.ts'
import { createRestrictionList } from '../../store/restriction-lists.ts'
import { addRestrictionEntries } from '../../store/restrictions.ts'
import { createRule } from '../../store/rules.ts'
import { createSegment } from '../../store/segments.ts'
import { createTemplate } from '../../store/templates.ts'
import { createUser, type UserRole } from '../../store/users.ts'
import { drawFlower } from './pictures.ts'
import type { Addresses, PhoneInTwo, Quickstart } from './quickstart.ts'
import { demoTemplates } from './templates.ts'

export type Transaction = Queryable & Pick<Db, 'transaction'>

const companyName = 'Pombo Demo'

// No number starts +55 11 90 or 91: those are left to people's own trials.
const windowOpen: PhoneInTwo = { countryCode: 55, phoneNumber: 31988880001 }
const inAttendance: PhoneInTwo = { countryCode: 55, phoneNumber: 31988880002 }
const restrictedPhone = '5531977770000'

export const digitsOf = (phone: PhoneInTwo): string => `${phone.countryCode}${phone.phoneNumber}`

/** The lines lead nowhere yet; a worker of another node that is quicker than the sandbox must not try them. */
export const untilSandboxRuns = 'waiting for the sandbox'

/** Where they lead is written when the sandbox has its ports. */
const lines: LineInput[] = [
  whatsappLine('WhatsApp', 31987650001, { isDefault: true }),
  whatsappLine('WhatsApp prospects 1', 21987650002, { isProspect: true }),
  whatsappLine('WhatsApp prospects 2', 41987650003, { isProspect: true }),
  {
    name: 'SMS',
    channel: 'sms',
    countryCode: 55,
    phoneNumber: 31987650010,
    driver: 'smpp',
    isDefault: true,
    settings: {},
  },
  {
    name: 'E-mail',
    channel: 'email',
    email: 'demo@pombo.example',
    driver: 'smtp',
    isDefault: true,
    settings: {},
  },
]

function whatsappLine(
  name: string,
  phoneNumber: number,
  marks: Pick<LineInput, 'isDefault' | 'isProspect'>,
): LineInput {
  return {
    name,
    channel: 'whatsapp',
    countryCode: 55,
    phoneNumber,
    driver: 'whatsapp-cloud',
    settings: {},
    ...marks,
  }
}

/** Our own data: a problem in it is a fault of the program. */
function must<T>(result: Saved<T>): T {
  if (result.ok) return result.value
  throw new Error(`The demo data is wrong: ${showProblems(result.problems)}.`)
}

const newPassword = () => randomBytes(15).toString('base64url')

export async function createDemo(
  transaction: Transaction,
  { sealer, now, addresses }: { sealer: Sealer; now: Date; addresses: Addresses },
): Promise<Quickstart> {
  const company = must(
    await createCompany(transaction, sealer, { name: companyName, timeZone: 'America/Sao_Paulo' }),
  )
  const newUser = async (name: string, role: UserRole) => {
    const password = newPassword()
    return { ...must(await createUser(transaction, company.id, { name, role, password })), password }
  }
  const apiUser = await newUser('integration', 'api')
  const administrator = await newUser('admin', 'administrator')
  const attendant = await newUser('ana', 'attendant')
  const directToken = must(await createDirectToken(transaction, company.id, { name: 'Integration' }))
  const segments = [
    must(await createSegment(transaction, company.id, { name: 'Everyone', clientCode: 'EVERYONE' })),
    must(await createSegment(transaction, company.id, { name: 'Office hours', clientCode: 'OFFICE' })),
  ] as const
  for (const line of lines) {
    const { id } = must(await createLine(transaction, sealer, company.id, line, []))
    await pauseLine(transaction, company.id, id, { at: now, reason: untilSandboxRuns })
  }
  const templates: Template[] = []
  for (const template of demoTemplates)
    templates.push(must(await createTemplate(transaction, company.id, template)))
  const media = await createMedia(transaction, company.id)
  await createContacts(transaction, company.id, attendant.id, now)
  const lists = await createRules(transaction, company.id, segments[1].id)
  await transaction.query('insert into setting (key, value) values ($1, $2)', [
    'demo',
    JSON.stringify({ companyId: company.id, attendantId: attendant.id }),
  ])
  return {
    unified: {
      baseUrl: addresses.unified,
      company: company.name,
      username: apiUser.name,
      password: apiUser.password,
      platformPrivateToken: company.privateToken,
    },
    direct: { baseUrl: addresses.direct, token: directToken.token, callbackSecret: company.callbackSecret },
    console: {
      url: addresses.console,
      company: company.name,
      username: administrator.name,
      password: administrator.password,
    },
    lines: lines.map(({ channel, countryCode, phoneNumber, email, isProspect, isDefault }) => ({
      channel,
      countryCode,
      phoneNumber,
      email,
      prospect: isProspect ?? false,
      default: isDefault ?? false,
    })),
    templates: templates.map(describeTemplate),
    segments: segments.map(({ name, clientCode }) => ({ name, clientCode: clientCode ?? '' })),
    attendants: [attendant.name],
    contacts: { windowOpen, inAttendance },
    restricted: { phone: restrictedPhone, lists },
    media: media.map((item) => ({ url: addresses.unified + mediaPath(item) })),
    sandbox: { url: addresses.sandbox ?? '' },
  }
}

function describeTemplate({ name, code, channel, kind, content }: Template): Quickstart['templates'][number] {
  const { header, variables, cards } = content
  const inHeader = header?.kind === 'text' ? compileText(header.text, variables).variables[0] : undefined
  return {
    name,
    code,
    channel,
    kind,
    variables,
    headerVariable: inHeader?.name,
    cards: cards?.length,
  }
}

async function createMedia(transaction: Transaction, companyId: string) {
  const pictures = [
    { name: 'tulips.png', bytes: drawFlower([200, 40, 60]) },
    { name: 'daffodils.png', bytes: drawFlower([240, 220, 90]) },
    { name: 'crocuses.png', bytes: drawFlower([120, 70, 170]) },
  ]
  const items = []
  for (const picture of pictures) items.push(must(await createMediaItem(transaction, companyId, picture)))
  return items
}

async function createContacts(transaction: Transaction, companyId: string, attendantId: string, now: Date) {
  must(await createContact(transaction, companyId, { phone: digitsOf(windowOpen), name: 'Wanda Costa' }))
  const attended = must(
    await createContact(transaction, companyId, { phone: digitsOf(inAttendance), name: 'Igor Alves' }),
  )
  await openAttendance(transaction, companyId, { contactId: attended.id, userId: attendantId, at: now })
}

/** Two lists that both hold one number; hours and a cap for the second segment only. Returns how many lists. */
async function createRules(transaction: Transaction, companyId: string, secondSegmentId: string) {
  const names = ['Do not disturb', 'Complaints']
  for (const [position, name] of names.entries()) {
    const list = must(await createRestrictionList(transaction, companyId, name))
    await addRestrictionEntries(transaction, list.id, [{ field: 'phone', value: restrictedPhone }])
    await createRule(transaction, companyId, {
      name,
      position,
      settings: { kind: 'restriction_list', listId: list.id },
    })
  }
  const day = [{ from: 9 * 60, to: 18 * 60 }]
  await createRule(transaction, companyId, {
    name: 'Office hours only',
    action: 'defer',
    position: names.length,
    segmentIds: [secondSegmentId],
    settings: {
      kind: 'allowed_hours',
      timeZone: 'America/Sao_Paulo',
      weekdays: [day, day, day, day, day, [], []],
      holidays: [],
    },
  })
  await createRule(transaction, companyId, {
    name: 'Three a day',
    position: names.length + 1,
    segmentIds: [secondSegmentId],
    settings: { kind: 'frequency_cap', limit: 3, period: 'day' },
  })
  return names.length
}
