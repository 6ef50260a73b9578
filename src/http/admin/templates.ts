/** Templates: checked before they are saved, previewed as the recipient will see them. */
import { Type, type Static } from 'typebox'
import { compileTemplate, renderTemplate } from '../../domain/compiled-template.ts'
import { measureSms } from '../../domain/sms-text.ts'
import { checkTemplate } from '../../domain/template-check.ts'
import type { Template, TemplateButton, TemplateContent, TemplateHeader } from '../../domain/template.ts'
import { variableKey } from '../../domain/variables.ts'
import { showId } from '../../lib/ids.ts'
import { removeTemplate } from '../../store/removals.ts'
import {
  changeTemplate,
  createTemplate,
  getTemplate,
  listTemplates,
  setTemplateState,
} from '../../store/templates.ts'
import { readVersion } from '../../store/versions.ts'
import { changed, done, notFound, unlessSaved } from './replies.ts'
import { change, read, type Route } from './route.ts'
import { smallListQuery, smallPage } from './small-lists.ts'
import {
  channel,
  checkVersion,
  flag,
  idOf,
  listOf,
  nullable,
  oneOf,
  optionalText,
  pageOut,
  text,
  whole,
} from './wire.ts'

const kinds = ['text', 'carousel', 'verification'] as const
const approvals = ['approved', 'pending', 'rejected', 'paused', 'disabled'] as const

const Button = Type.Object({
  kind: oneOf(['quick_reply', 'url', 'phone', 'code'], 'What it does.'),
  text: text('What is on it.', 100),
  url: optionalText('Of a button that opens an address; may end in one variable.', 2048),
  phone: optionalText('Of a button that calls a number.', 30),
  value: optionalText('Of the button that copies a code: @Code.', 50),
})

const Content = Type.Object({
  subject: optionalText('E-mail only.', 2000),
  header: Type.Optional(
    Type.Object({
      kind: oneOf(['text', 'image', 'video', 'document'], 'WhatsApp only.'),
      text: optionalText('Of a text header.', 200),
    }),
  ),
  body: Type.String({
    description: 'The text, with variables written @Name.',
    maxLength: 500_000,
    'x-empty-is-value': true,
  }),
  footer: optionalText('WhatsApp only.', 200),
  buttons: Type.Optional(listOf(Button, 'WhatsApp only.', 10)),
  cards: Type.Optional(
    listOf(
      Type.Object({
        body: optionalText('The text of the card.', 500),
        buttons: Type.Optional(listOf(Button, 'Of the card.', 2)),
      }),
      'Of a carousel, in order.',
      10,
    ),
  ),
  codeExpiryMinutes: Type.Optional(
    whole('Of a verification template of WhatsApp: how long the code is good for.', 1, 90),
  ),
  variables: Type.Optional(listOf(text('A bare name.', 100), 'Variables that are replaced.', 100)),
  provider: Type.Optional(
    Type.Object({
      name: text('As WhatsApp knows the template.', 512),
      language: text('Like en or pt_BR.', 20),
      parameterFormat: Type.Optional(oneOf(['positional', 'named'], 'How parameters are given.')),
      category: Type.Optional(oneOf(['marketing', 'utility', 'authentication'], 'As WhatsApp knows it.')),
    }),
  ),
})

const draft = { name: text('Its name.'), code: text('Its code.'), content: Content }
const Draft = Type.Object({ ...draft, channel: channel(), kind: oneOf(kinds, 'What it is.') })

export const TemplateOut = Type.Object({
  id: idOf('tpl', 'The template.'),
  ...draft,
  channel: channel(),
  kind: oneOf(kinds, 'What it is.'),
  isEnabled: Type.Boolean(),
  approval: oneOf(approvals, "The provider's word."),
  approvalReason: nullable(Type.String({ description: 'Why, in the words of the provider.' })),
})

export const show = (template: Template) => ({
  ...template,
  id: showId('tpl', template.id),
  approvalReason: template.approvalReason ?? null,
})

function buttonOf(button: Static<typeof Button>): TemplateButton {
  switch (button.kind) {
    case 'quick_reply':
      return { kind: 'quick_reply', text: button.text }
    case 'url':
      return { kind: 'url', text: button.text, url: button.url ?? '' }
    case 'phone':
      return { kind: 'phone', text: button.text, phone: button.phone ?? '' }
    case 'code':
      return { kind: 'code', text: button.text, value: button.value ?? '' }
  }
}

function headerOf(header: Static<typeof Content>['header']): TemplateHeader | undefined {
  if (header === undefined) return undefined
  return header.kind === 'text' ? { kind: 'text', text: header.text ?? '' } : { kind: header.kind }
}

const contentOf = (content: Static<typeof Content>): TemplateContent => ({
  ...(content.subject !== undefined && { subject: content.subject }),
  ...(content.header && { header: headerOf(content.header)! }),
  body: content.body,
  ...(content.footer !== undefined && { footer: content.footer }),
  buttons: (content.buttons ?? []).map(buttonOf),
  ...(content.cards && {
    cards: content.cards.map((card) => ({
      ...(card.body !== undefined && { body: card.body }),
      buttons: (card.buttons ?? []).map(buttonOf),
    })),
  }),
  ...(content.codeExpiryMinutes !== undefined && { codeExpiryMinutes: content.codeExpiryMinutes }),
  variables: content.variables ?? [],
  ...(content.provider && {
    provider: {
      name: content.provider.name,
      language: content.provider.language,
      parameterFormat: content.provider.parameterFormat ?? 'positional',
      category: content.provider.category ?? 'utility',
    },
  }),
})

/** The content's own fields stand below `content` on the wire. */
const placed = <T extends { field: string }>(problems: readonly T[]): T[] =>
  problems.map((problem) =>
    /^(name|code|channel|kind)$/.test(problem.field)
      ? problem
      : { ...problem, field: `content.${problem.field}` },
  )

const listRoutes: Route[] = [
  read({
    method: 'GET',
    path: '/templates',
    summary: 'List templates',
    query: Type.Object({
      ...smallListQuery(['name', 'code', 'createdAt']),
      channel: Type.Optional(channel('Only of this channel.')),
      kind: Type.Optional(oneOf(kinds, 'Only of this kind.')),
      approval: Type.Optional(oneOf(approvals, 'Only those that the provider judged so.')),
      isEnabled: flag('Only those that may, or may not, be sent.'),
    }),
    answer: pageOut(TemplateOut),
    async handle({ db, companyId, query }) {
      const all = await listTemplates(db, companyId, query.channel)
      const fitting = all.filter(
        ({ kind, approval, isEnabled }) =>
          kind === (query.kind ?? kind) &&
          approval === (query.approval ?? approval) &&
          isEnabled === (query.isEnabled ?? isEnabled),
      )
      return done(
        smallPage(fitting, query, {
          sorts: {
            name: ({ name }) => name.toLowerCase(),
            code: ({ code }) => code.toLowerCase(),
            createdAt: ({ id }) => id,
          },
          words: ({ name, code }) => [name, code],
          show,
        }),
      )
    },
  }),
  read({
    method: 'GET',
    path: '/templates/:id',
    ids: ['tpl'],
    summary: 'Read a template',
    answer: TemplateOut,
    async handle({ db, companyId, ids: [id = ''] }) {
      const template = await getTemplate(db, companyId, id)
      return template ? done(show(template), await readVersion(db, 'template', companyId, id)) : notFound
    },
  }),
  read({
    method: 'POST',
    path: '/templates/preview',
    summary: 'Check a template and show it filled',
    description:
      'Nothing is saved. A variable without a value is shown as it is written; for SMS the segments are counted.',
    body: Type.Object({
      ...Draft.properties,
      variables: Type.Optional(
        Type.Record(Type.String(), Type.String({ maxLength: 4096, 'x-empty-is-value': true })),
      ),
    }),
    answer: Type.Object({
      problems: Type.Array(Type.Object({ field: Type.String(), message: Type.String() })),
      rendered: Type.Union([Type.Object({}), Type.Null()]),
      sms: Type.Union([Type.Object({}), Type.Null()]),
    }),
    async handle({ body }) {
      const template: Template = {
        id: '',
        name: body.name,
        code: body.code,
        channel: body.channel,
        kind: body.kind,
        isEnabled: true,
        approval: 'approved',
        content: contentOf(body.content),
      }
      return done({ problems: placed(checkTemplate(template)), ...preview(template, body.variables ?? {}) })
    },
  }),
]

function preview(template: Template, variables: Record<string, string | undefined>) {
  const values = new Map(Object.entries(variables).map(([name, value]) => [variableKey(name), value]))
  const names = new Map(template.content.variables.map((name) => [variableKey(name), name.replace(/^@/, '')]))
  const placeholder = {
    name: 'file',
    mimeType: 'image/png',
    source: { kind: 'address' as const, url: 'about:blank' },
  }
  const rendered = renderTemplate(compileTemplate(template), {
    lookup: (key) => values.get(key) ?? (names.has(key) ? `@${names.get(key)}` : undefined),
    files: (template.content.cards ?? []).map(() => placeholder),
    isFlash: false,
  })
  if (!rendered.ok)
    return { rendered: null, sms: null, unfilled: rendered.problems.map(({ message }) => message) }
  const { content } = rendered
  const isSms = template.channel === 'sms' && content.kind === 'text'
  return { rendered: content, sms: isSms ? measureSms(content.text) : null }
}

const changeRoutes: Route[] = [
  change({
    method: 'POST',
    path: '/templates',
    noun: 'template',
    action: 'create',
    summary: 'Create a template',
    description: 'One of WhatsApp is pending until the provider has approved it.',
    body: Type.Object({
      ...Draft.properties,
      isEnabled: flag('May be sent.'),
      approval: Type.Optional(oneOf(approvals, 'When the provider has decided already.')),
    }),
    answer: TemplateOut,
    status: 201,
    async handle({ db, companyId, body }) {
      const result = await createTemplate(db, companyId, {
        ...body,
        content: contentOf(body.content),
        approval: body.approval ?? (body.channel === 'whatsapp' ? 'pending' : 'approved'),
      })
      if (!result.ok) return unlessSaved({ ...result, problems: placed(result.problems) })!
      const { id, name, code } = result.value
      return changed(
        show(result.value),
        { nounId: showId('tpl', id), detail: { name, code, channel: body.channel, kind: body.kind } },
        { version: await readVersion(db, 'template', companyId, id) },
      )
    },
  }),
  change({
    method: 'PUT',
    path: '/templates/:id',
    ids: ['tpl'],
    noun: 'template',
    action: 'change',
    summary: 'Replace name, code and content of a template',
    body: Type.Object(draft),
    answer: TemplateOut,
    async handle(call) {
      const {
        db,
        companyId,
        ids: [id = ''],
        body,
      } = call
      const stale = await checkVersion(call, 'template', id)
      if (stale) return stale
      const result = await changeTemplate(db, companyId, id, { ...body, content: contentOf(body.content) })
      if (!result?.ok) return unlessSaved(result && { ...result, problems: placed(result.problems) })!
      const { name, code } = result.value
      return changed(
        show(result.value),
        { nounId: showId('tpl', id), detail: { name, code } },
        { version: await readVersion(db, 'template', companyId, id) },
      )
    },
  }),
  change({
    method: 'PATCH',
    path: '/templates/:id',
    ids: ['tpl'],
    noun: 'template',
    action: 'set_state',
    summary: 'Switch a template on or off, or set its approval',
    body: Type.Object({
      isEnabled: flag('May be sent.'),
      approval: Type.Optional(oneOf(approvals, "The provider's word.")),
    }),
    answer: TemplateOut,
    async handle(call) {
      const {
        db,
        companyId,
        ids: [id = ''],
        body,
      } = call
      const stale = await checkVersion(call, 'template', id)
      if (stale) return stale
      const template = await setTemplateState(db, companyId, id, body)
      if (template === undefined) return notFound
      const { isEnabled, approval } = template
      return changed(
        show(template),
        { nounId: showId('tpl', id), detail: { isEnabled, approval } },
        { version: await readVersion(db, 'template', companyId, id) },
      )
    },
  }),
  change({
    method: 'DELETE',
    path: '/templates/:id',
    ids: ['tpl'],
    noun: 'template',
    action: 'remove',
    summary: 'Remove a template',
    description: 'Messages that were sent with it keep what was rendered.',
    async handle(call) {
      const {
        db,
        companyId,
        ids: [id = ''],
      } = call
      const stale = await checkVersion(call, 'template', id)
      if (stale) return stale
      const template = await getTemplate(db, companyId, id)
      await removeTemplate(db, companyId, id)
      return changed(undefined, { nounId: showId('tpl', id), detail: { name: template?.name } })
    },
  }),
]

export const templateRoutes: Route[] = [...listRoutes, ...changeRoutes]
