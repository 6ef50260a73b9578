/**
 * A company with everything that a send may name: users, tokens, lines, templates, segments. Names are random, so
 * that a test file may make as many companies as it likes in one database.
 */
import { randomBytes } from 'node:crypto'
import { channels, type Channel } from '../../src/domain/channel.ts'
import type { Contact } from '../../src/domain/contact.ts'
import type { Saved } from '../../src/domain/saved.ts'
import { showProblems } from '../../src/domain/saved.ts'
import type { Template } from '../../src/domain/template.ts'
import { demoTemplates } from '../../src/flows/demo/templates.ts'
import { createSealer, type Sealer } from '../../src/lib/secrets.ts'
import { createCompany, type CompanyInput, type NewCompany } from '../../src/store/companies.ts'
import { createContact, openWindow, type ContactInput } from '../../src/store/contacts.ts'
import type { Queryable } from '../../src/store/db.ts'
import { createDirectToken, type NewDirectToken } from '../../src/store/direct-tokens-admin.ts'
import { createLine, type LineInput, type LineRecord } from '../../src/store/lines.ts'
import { createSegment, type Segment } from '../../src/store/segments.ts'
import { createTemplate, type TemplateInput } from '../../src/store/templates.ts'
import { createUser, type User, type UserRole } from '../../src/store/users.ts'

/** Any key will do: a test database is sealed by nobody else. */
export const testSealer: Sealer = createSealer('5'.repeat(64))

/** The value, or an error that says what was wrong with the input: for set-up that must succeed. */
export function must<T>(result: Saved<T> | undefined): T {
  if (result?.ok) return result.value
  throw new Error(result ? showProblems(result.problems) : 'There is no such thing to change.')
}

const randomName = (prefix: string) => `${prefix} ${randomBytes(6).toString('hex')}`

/** Templates beyond the demo's, by code: the ones that need a file, or that a rule refuses. */
const furtherTemplates: readonly TemplateInput[] = [
  {
    name: 'Picture of the day',
    code: 'image-header',
    channel: 'whatsapp',
    kind: 'text',
    content: {
      header: { kind: 'image' },
      body: 'This is the picture of @Date for you.',
      buttons: [],
      variables: ['Date'],
      provider: provider('image_header'),
    },
  },
  {
    name: 'Contract to sign',
    code: 'document-header',
    channel: 'whatsapp',
    kind: 'text',
    content: {
      header: { kind: 'document' },
      body: 'Contract @Contract is ready to sign.',
      buttons: [],
      variables: ['Contract'],
      provider: provider('document_header'),
    },
  },
  {
    name: 'Verification with name',
    code: 'verification-with-name',
    channel: 'whatsapp',
    kind: 'verification',
    content: {
      body: 'Hello @FirstName, your code is @Code, valid for ten minutes.',
      buttons: [{ kind: 'code', text: 'Copy code', value: '@Code' }],
      variables: ['FirstName', 'Code'],
      provider: provider('verification_with_name'),
    },
  },
  {
    name: 'Contact card',
    code: 'contact-variables',
    channel: 'sms',
    kind: 'text',
    content: {
      body: '@Name|@FirstName|@LastName|@Phone|@Email|@Id|@CustomCode|@Tag|@Wallet|@Attendant|@Company|@Joker1|@Joker5',
      buttons: [],
      variables:
        'Name FirstName LastName Phone Email Id CustomCode Tag Wallet Attendant Company Joker1 Joker5'.split(
          ' ',
        ),
    },
  },
  {
    name: 'Numbered SMS',
    code: 'numbered-sms',
    channel: 'sms',
    kind: 'text',
    content: { body: 'First @1, second @2.', buttons: [], variables: ['1', '2'] },
  },
  {
    name: 'Plain e-mail',
    code: 'plain-email',
    channel: 'email',
    kind: 'text',
    content: {
      subject: 'About @Topic',
      body: 'Dear @Name, this is about @Topic.',
      buttons: [],
      variables: ['Topic', 'Name'],
    },
  },
  {
    name: 'Fixed SMS',
    code: 'fixed-sms',
    channel: 'sms',
    kind: 'text',
    content: { body: 'Nothing to fill in here.', buttons: [], variables: [] },
  },
  {
    name: 'Not approved yet',
    code: 'pending',
    channel: 'whatsapp',
    kind: 'text',
    approval: 'pending',
    content: {
      body: 'Waiting for the provider.',
      buttons: [],
      variables: [],
      provider: provider('pending'),
    },
  },
  {
    name: 'Switched off',
    code: 'disabled',
    channel: 'sms',
    kind: 'text',
    isEnabled: false,
    content: { body: 'Nobody should read this.', buttons: [], variables: [] },
  },
]

function provider(name: string) {
  return { name, language: 'en', parameterFormat: 'positional', category: 'utility' } as const
}

/** Hosts that nobody listens on: tests of delivery replace the settings. */
const lineInputs: Record<Channel, LineInput[]> = {
  email: [
    {
      name: 'Post office',
      channel: 'email',
      email: 'sender@company.example',
      driver: 'smtp',
      isDefault: true,
      settings: { host: '127.0.0.1', port: 9 },
    },
  ],
  sms: [
    {
      name: 'SMS',
      channel: 'sms',
      countryCode: 55,
      phoneNumber: 31987650001,
      driver: 'smpp',
      isDefault: true,
      settings: { host: '127.0.0.1', port: 9, systemId: 'test', password: 'secret' },
    },
  ],
  whatsapp: [
    {
      name: 'WhatsApp',
      channel: 'whatsapp',
      countryCode: 55,
      phoneNumber: 31987650002,
      driver: 'whatsapp-cloud',
      isDefault: true,
      settings: { baseUrl: 'http://127.0.0.1:9', phoneNumberId: '1', accessToken: 'secret' },
    },
    {
      name: 'WhatsApp prospect 1',
      channel: 'whatsapp',
      countryCode: 55,
      phoneNumber: 31987650003,
      driver: 'whatsapp-cloud',
      isProspect: true,
      settings: { baseUrl: 'http://127.0.0.1:9', phoneNumberId: '2', accessToken: 'secret' },
    },
    {
      name: 'WhatsApp prospect 2',
      channel: 'whatsapp',
      countryCode: 55,
      phoneNumber: 31987650004,
      driver: 'whatsapp-cloud',
      isProspect: true,
      settings: { baseUrl: 'http://127.0.0.1:9', phoneNumberId: '3', accessToken: 'secret' },
    },
  ],
}

const lineSecrets = ['password', 'accessToken', 'appSecret', 'verifyToken']

export type TestUser = User & { password: string }

export type TestCompany = NewCompany & {
  apiUser: TestUser
  attendant: TestUser
  directToken: NewDirectToken
  /** `sms` and `email` have one line, the default; `whatsapp` has the default (no prospect) and two prospects. */
  lines: Record<Channel, LineRecord[]>
  /** By code: all of the demo's (`order-confirmation`, …) and the further ones above. */
  templates: Record<string, Template>
  /** The first has the client code `W1`, the second `W2`. */
  segments: [Segment, Segment]
}

export type CompanyOverrides = Partial<CompanyInput> & {
  /** Channels that get lines; default: all. */
  channels?: readonly Channel[]
  /** Instead of the usual ones. */
  lines?: LineInput[]
}

export async function makeCompany(
  db: Queryable,
  sealer: Sealer = testSealer,
  overrides: CompanyOverrides = {},
): Promise<TestCompany> {
  const { channels: withLines = channels, lines: ownLines, ...input } = overrides
  const company = must(await createCompany(db, sealer, { name: randomName('Company'), ...input }))
  const lines: TestCompany['lines'] = { email: [], sms: [], whatsapp: [] }
  for (const line of ownLines ?? withLines.flatMap((channel) => lineInputs[channel]))
    lines[line.channel].push(must(await createLine(db, sealer, company.id, line, lineSecrets)))
  const templates: TestCompany['templates'] = {}
  for (const template of [...demoTemplates, ...furtherTemplates])
    templates[template.code] = must(await createTemplate(db, company.id, template))
  return {
    ...company,
    apiUser: await makeUser(db, company.id, 'api'),
    attendant: await makeUser(db, company.id, 'attendant'),
    directToken: must(await createDirectToken(db, company.id, { name: 'Integration' })),
    lines,
    templates,
    segments: [
      must(await createSegment(db, company.id, { name: 'First segment', clientCode: 'W1' })),
      must(await createSegment(db, company.id, { name: 'Second segment', clientCode: 'W2' })),
    ],
  }
}

export async function makeUser(db: Queryable, companyId: string, role: UserRole): Promise<TestUser> {
  const password = randomBytes(12).toString('base64url')
  const user = must(await createUser(db, companyId, { name: randomName(role), role, password }))
  return { ...user, password }
}

export async function makeContact(
  db: Queryable,
  companyId: string,
  input: ContactInput = { phone: randomMobile() },
): Promise<Contact> {
  return must(await createContact(db, companyId, input))
}

/** The contact has just written to each of these lines. */
export async function openWindows(
  db: Queryable,
  contact: Pick<Contact, 'id'>,
  lines: readonly Pick<LineRecord, 'id'>[],
  receivedAt: Date,
): Promise<void> {
  for (const line of lines) await openWindow(db, contact.id, line.id, receivedAt)
}

/** Digits with country code of a Brazilian mobile; random, since tests of one file share a database. */
export const randomMobile = (): string =>
  `55319${String(randomBytes(4).readUInt32BE() % 100_000_000).padStart(8, '0')}`
