/** A company with one of everything that the unified document names, and the bodies that its clients would send. */
import { createHash } from 'node:crypto'
import { nameKey, type Channel } from '../../../src/domain/channel.ts'
import { mediaPath } from '../../../src/domain/media.ts'
import type { Template, TemplateContent } from '../../../src/domain/template.ts'
import { newId, parseId } from '../../../src/lib/ids.ts'
import { createSealer, hashPassword, hashToken, newToken } from '../../../src/lib/secrets.ts'
import type { Db, Row } from '../../../src/store/db.ts'
import { request, type Answer, type RequestOptions } from '../../harness/http.ts'

export type Body = Record<string, unknown>
export type TestLine = { id: string; channel: Channel; countryCode: number; phoneNumber: number }
export type TestPhone = { countryCode: number; phoneNumber: number }

export type CompanyOptions = {
  name?: string
  tokenTtlSeconds?: number
  attendanceIdleHours?: number
  /** Channels without any line. */
  withoutLines?: Channel[]
}

/** What a message row holds, as far as the documents have an opinion about it. */
export type MessageRow = {
  id: string
  api: string
  channel: string
  state: string
  contact_id: string | null
  recipient: string
  line_id: string | null
  template_id: string | null
  segment_id: string | null
  request_id: string
  call_id: string | null
  content: MessageContentRow
  reasons: unknown
  priority: number
  accepted_at: Date
  expires_at: Date
}

export type FileRow = {
  name: string
  mimeType: string
  source: { kind: string; hash?: string; size?: number; url?: string }
}

export type MessageContentRow = {
  kind: 'text' | 'template'
  text: string
  subject?: string
  isHtml?: boolean
  files: FileRow[]
  name?: string
  templateKind?: string
  header?: {
    kind: string
    mediaKind?: string
    file?: FileRow
    parameters?: { name: string; value: string }[]
  }
  body: { name: string; value: string }[]
  buttons: { index: number; kind: string; value: string }[]
  cards?: { file: FileRow; body: { name: string; value: string }[] }[]
  preview: string
}

export type ContactRow = {
  id: string
  name: string | null
  tax_id: string | null
  custom_code: string | null
  tag: string | null
  jokers: (string | null)[] | null
  segment_id: string | null
  phone: string | null
  email: string | null
  last_interaction_at: Date | null
}

const sealer = createSealer('5e'.repeat(32))
export const password = 'Correct horse, 1 battery'
// Argon2id takes some 30 ms on purpose; all users of a file share one hash.
let sharedHash: Promise<string> | undefined
const passwordHash = () => (sharedHash ??= hashPassword(password))

let counter = 0
/** A number nobody has had in this file; Brazilian mobiles, as in the documents. */
export const freshPhone = (): TestPhone => ({ countryCode: 55, phoneNumber: 11_960_000_000 + ++counter })
export const freshEmail = (): string => `person.${++counter}@example.com`
export const digitsOf = (phone: TestPhone): string => `${phone.countryCode}${phone.phoneNumber}`

export type Company = Awaited<ReturnType<typeof createCompany>>

export async function createCompany(db: Db, baseUrl: () => string, options: CompanyOptions = {}) {
  const id = newId()
  const name = options.name ?? `Company ${id.slice(-12)}`
  const privateToken = newToken()
  const accessToken = newToken()
  const users = {
    api: { id: newId(), name: 'sender' },
    otherApi: { id: newId(), name: 'second sender' },
    maria: { id: newId(), name: 'Maria Silva' },
    joao: { id: newId(), name: 'joao' },
    viewer: { id: newId(), name: 'viewer' },
    disabled: { id: newId(), name: 'gone' },
    administrator: { id: newId(), name: 'boss' },
  }
  const segments = {
    gold: { id: newId(), name: 'Gold', clientCode: 'GOLD-01' },
    silver: { id: newId(), name: 'Silver', clientCode: 'SILVER-02' },
  }
  const whatsapp = (number: number): TestLine => ({
    id: newId(),
    channel: 'whatsapp',
    countryCode: 55,
    phoneNumber: number,
  })
  const lines = {
    main: whatsapp(1130000001),
    prospectA: whatsapp(1130000002),
    prospectB: whatsapp(1130000003),
    plain: whatsapp(1130000004),
    disabled: whatsapp(1130000005),
    sms: { id: newId(), channel: 'sms' as const, countryCode: 55, phoneNumber: 1130000006 },
    email: { id: newId(), channel: 'email' as const, address: 'account@example.org' },
  }

  await db.query(
    `insert into company (id, name, name_key, token_ttl_seconds, attendance_idle_hours, private_token_sealed,
       private_token_hash, callback_secret_sealed) values ($1, $2, $3, $4, $5, $6, $7, $6)`,
    [
      id,
      name,
      nameKey(name),
      options.tokenTtlSeconds ?? 287_971_200,
      options.attendanceIdleHours ?? 24,
      sealer.seal(privateToken),
      hashToken(privateToken),
    ],
  )
  const roles = ['api', 'api', 'attendant', 'supervisor', 'viewer', 'attendant', 'administrator']
  await db.query(
    `insert into app_user (id, company_id, name, name_key, role, password_hash, disabled_at)
       select u.id, $1, u.name, u.key, u.role, $2, case when u.name = 'gone' then now() end
       from unnest($3::uuid[], $4::text[], $5::text[], $6::text[]) u (id, name, key, role)`,
    [
      id,
      await passwordHash(),
      Object.values(users).map((user) => user.id),
      Object.values(users).map((user) => user.name),
      Object.values(users).map((user) => nameKey(user.name)),
      roles,
    ],
  )
  await db.query(
    `insert into api_token (user_id, company_id, hash, issued_at, expires_at)
       values ($1, $2, $3, now() - interval '1 minute', now() + interval '30 years')`,
    [users.api.id, id, hashToken(accessToken)],
  )
  await db.query(
    `insert into segment (id, company_id, name, name_key, client_code, client_code_key)
       select s.id, $1, s.name, lower(s.name), s.code, lower(s.code)
       from unnest($2::uuid[], $3::text[], $4::text[]) s (id, name, code)`,
    [
      id,
      Object.values(segments).map((segment) => segment.id),
      Object.values(segments).map((segment) => segment.name),
      Object.values(segments).map((segment) => segment.clientCode),
    ],
  )
  const kept = Object.entries(lines).filter(([, line]) => !options.withoutLines?.includes(channelOf(line)))
  for (const [label, line] of kept)
    await db.query(
      `insert into line (id, company_id, name, channel, country_code, phone_number, email, driver, is_default,
         is_prospect, is_enabled) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
      [
        line.id,
        id,
        label,
        channelOf(line),
        'phoneNumber' in line ? line.countryCode : null,
        'phoneNumber' in line ? line.phoneNumber : null,
        'address' in line ? line.address : null,
        driverOf[channelOf(line)],
        ['main', 'sms', 'email'].includes(label),
        label.startsWith('prospect'),
        label !== 'disabled',
      ],
    )

  const addTemplate = async (
    template: Partial<Omit<Template, 'content'>> & { channel: Channel; content: Partial<TemplateContent> },
  ): Promise<{ id: string; name: string }> => {
    const templateId = newId()
    const templateName = template.name ?? `template ${templateId.slice(-12)}`
    const code = template.code ?? `code-${templateId.slice(-12)}`
    const content: TemplateContent = {
      body: 'Hello',
      buttons: [],
      variables: [],
      ...(template.channel === 'email' && { subject: 'A subject' }),
      ...(template.channel === 'whatsapp' && {
        provider: {
          name: templateName.toLowerCase().replaceAll(/[^a-z0-9]+/g, '_'),
          language: 'pt_BR',
          parameterFormat: 'positional',
          category: template.kind === 'verification' ? 'authentication' : 'utility',
        },
      }),
      ...template.content,
    }
    await db.query(
      `insert into template (id, company_id, name, name_key, code, code_key, channel, kind, is_enabled, approval, content)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
      [
        templateId,
        id,
        templateName,
        nameKey(templateName),
        code,
        nameKey(code),
        template.channel,
        template.kind ?? 'text',
        template.isEnabled ?? true,
        template.approval ?? 'approved',
        JSON.stringify(content),
      ],
    )
    return { id: templateId, name: templateName }
  }
  // One template per channel with a variable that is no contact variable.
  const templates = {
    whatsapp: await addTemplate({
      channel: 'whatsapp',
      name: 'Order Update',
      code: 'ORD-W',
      content: { body: 'Hello @FirstName, your order @Order is ready.', variables: ['FirstName', 'Order'] },
    }),
    sms: await addTemplate({
      channel: 'sms',
      name: 'Order by SMS',
      code: 'ORD-S',
      content: { body: 'Order @Order is ready.', variables: ['Order'] },
    }),
    email: await addTemplate({
      channel: 'email',
      name: 'Order by mail',
      code: 'ORD-E',
      content: {
        subject: 'Order @Order',
        body: '<p>Order @Order is ready.</p>',
        variables: ['Order'],
      },
    }),
  }

  type Headers = Record<string, string | string[]>
  const sendTo = (nodeUrl: string, body: unknown, headers: Headers = {}, rest: RequestOptions = {}) =>
    request(`${nodeUrl}/v1/sendmessage`, {
      method: 'POST',
      body,
      ...rest,
      headers: { authorization: `Bearer ${accessToken}`, ...headers },
    })
  const send = (body: unknown, headers?: Headers, rest?: RequestOptions) =>
    sendTo(baseUrl(), body, headers, rest)

  const base = (channel: number, extra: Body): Body => ({
    platformPrivateToken: privateToken,
    text: '',
    channel,
    ...extra,
  })

  return {
    id,
    name,
    privateToken,
    accessToken,
    users,
    segments,
    lines,
    templates,
    db,
    addTemplate,
    send,
    /** To a certain node. */
    sendTo,
    credentials: (): { Company: string; Username: string; Password: string } => ({
      Company: name,
      Username: users.api.name,
      Password: password,
    }),
    /** Free text by SMS to somebody new. */
    sms: (extra: Body = {}): Body => base(2, { text: 'Hello', destination: freshPhone(), ...extra }),
    /** Free text by e-mail to somebody new. */
    email: (extra: Body = {}): Body =>
      base(1, { text: 'Hello', emailSubject: 'News', destination: { email: freshEmail() }, ...extra }),
    /** The WhatsApp template to somebody new: free text would need an open window. */
    whatsapp: (extra: Body = {}): Body =>
      base(3, {
        templateName: templates.whatsapp.name,
        templateParameters: [
          { parameterName: 'FirstName', parameterValue: 'Ana' },
          { parameterName: 'Order', parameterValue: '42' },
        ],
        destination: freshPhone(),
        ...extra,
      }),
    /** Free text by WhatsApp; the window has to be open. */
    whatsappText: (to: TestPhone, extra: Body = {}): Body =>
      base(3, { text: 'Hello', destination: to, ...extra }),

    /** The row behind an accepted answer. */
    async message(answer: Answer): Promise<MessageRow> {
      const messageId = parseId('msg', String(answer.body['messageId']))
      const [row] = await db.query<MessageRow>('select * from message where id = $1 and company_id = $2', [
        messageId,
        id,
      ])
      if (!row) throw new Error(`No message is stored for the answer ${answer.status} ${answer.text}`)
      return row
    },
    /** The row of a refused send, found by its request id. */
    async blocked(answer: Answer): Promise<MessageRow> {
      const rows = await db.query<MessageRow>(
        'select * from message where request_id = $1 and company_id = $2',
        [answer.body['requestId'], id],
      )
      if (rows.length !== 1)
        throw new Error(`${rows.length} messages are stored for ${answer.status} ${answer.text}`)
      return rows[0]!
    },
    async contact(to: TestPhone | string): Promise<ContactRow | undefined> {
      const [row] =
        typeof to === 'string'
          ? await db.query<ContactRow>(
              'select * from contact where company_id = $1 and email_key = lower($2)',
              [id, to],
            )
          : await db.query<ContactRow>('select * from contact where company_id = $1 and phone_key = $2', [
              id,
              digitsOf(to),
            ])
      return row
    },
    /** A contact that is there already, by SQL: no interaction, no message. */
    async addContact(to: TestPhone | string, data: Partial<ContactRow> = {}): Promise<string> {
      const contactId = newId()
      const address =
        typeof to === 'string' ? [null, null, to, to.toLowerCase()] : [digitsOf(to), digitsOf(to), null, null]
      await db.query(
        `insert into contact (id, company_id, phone, phone_key, email, email_key, name, tax_id, custom_code, tag,
           jokers, segment_id, last_interaction_at) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
        [
          contactId,
          id,
          ...address,
          data.name ?? null,
          data.tax_id ?? null,
          data.custom_code ?? null,
          data.tag ?? null,
          data.jokers ?? null,
          data.segment_id ?? null,
          data.last_interaction_at ?? null,
        ],
      )
      return contactId
    },
    /** As if the contact had written to the line at that moment. */
    async openWindow(contactId: string, lineId: string, receivedAt: Date): Promise<void> {
      await db.query('insert into contact_window (contact_id, line_id, received_at) values ($1, $2, $3)', [
        contactId,
        lineId,
        receivedAt,
      ])
    },
    async openAttendance(contactId: string, userId: string, at: Date): Promise<void> {
      await db.query(
        `insert into attendance (id, company_id, contact_id, user_id, opened_at, active_at) values ($1, $2, $3, $4, $5, $5)`,
        [newId(), id, contactId, userId, at],
      )
    },
    openAttendances: (contactId: string) =>
      db.query<{ user_id: string; opened_at: Date }>(
        'select user_id, opened_at from attendance where contact_id = $1 and closed_at is null',
        [contactId],
      ),
    async addRule(rule: {
      kind: string
      action?: 'block' | 'defer'
      settings?: object
      channels?: Channel[]
      apis?: string[]
      segmentIds?: string[]
    }): Promise<void> {
      await db.query(
        `insert into rule (id, company_id, kind, name, action, settings, channels, apis, segment_ids)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
        [
          newId(),
          id,
          rule.kind,
          `rule ${++counter}`,
          rule.action ?? 'block',
          JSON.stringify(rule.settings ?? {}),
          rule.channels ?? ['email', 'sms', 'whatsapp'],
          rule.apis ?? ['unified', 'direct'],
          rule.segmentIds ?? [],
        ],
      )
    },
    /** A restriction list that holds these phones, and the rule that makes it count. */
    async addRestrictionList(listName: string, phones: TestPhone[]): Promise<string> {
      const listId = newId()
      await db.query(
        'insert into restriction_list (id, company_id, name, name_key) values ($1, $2, $3, $4)',
        [listId, id, listName, nameKey(listName)],
      )
      for (const phone of phones)
        await db.query("insert into restriction_entry (list_id, field, value) values ($1, 'phone', $2)", [
          listId,
          digitsOf(phone),
        ])
      await this.addRule({ kind: 'restriction_list', settings: { listId } })
      return listId
    },
    /** An item of the media library and its address. */
    async addMedia(
      bytes: Buffer,
      extension = 'png',
      mimeType = 'image/png',
    ): Promise<{ id: string; url: string }> {
      const mediaId = newId()
      const hash = createHash('sha256').update(bytes).digest()
      await db.query('insert into file (company_id, hash, size) values ($1, $2, $3) on conflict do nothing', [
        id,
        hash,
        bytes.length,
      ])
      await db.query(
        `insert into file_chunk (company_id, hash, position, bytes) values ($1, $2, 0, $3) on conflict do nothing`,
        [id, hash, bytes],
      )
      await db.query(
        `insert into media_item (id, company_id, name, extension, mime_type, hash, size) values ($1, $2, $3, $4, $5, $6, $7)`,
        [mediaId, id, `item.${extension}`, extension, mimeType, hash, bytes.length],
      )
      return { id: mediaId, url: `${baseUrl()}${mediaPath({ id: mediaId, extension })}` }
    },
    /** How much of everything a send leaves behind; equal before and after when nothing was stored. */
    async traces(): Promise<Row> {
      const [row] = await db.query(
        `select (select count(*) from message where company_id = $1) as messages,
           (select count(*) from message_history e join message m on m.id = e.message_id where m.company_id = $1) as events,
           (select count(*) from outbox where company_id = $1) as outbox,
           (select count(*) from contact where company_id = $1) as contacts,
           (select md5(coalesce(string_agg(c::text, '|' order by c.id), '')) from contact c where company_id = $1) as "contactData",
           (select count(*) from attendance where company_id = $1) as attendances,
           (select count(*) from contact_counter k join contact c on c.id = k.contact_id where c.company_id = $1) as counters,
           (select count(*) from idempotency where company_id = $1) as keys,
           (select count(*) from file where company_id = $1) as files`,
        [id],
      )
      return row!
    },
  }
}

const driverOf = { email: 'smtp', sms: 'smpp', whatsapp: 'whatsapp-cloud' } as const

const channelOf = (line: { channel: Channel }): Channel => line.channel
