/** A template as people write it down in a file: flat, without what can be left out. */
import { Type, type Static } from 'typebox'
import type { Template } from '../domain/template.ts'
import type { TemplateInput } from '../store/templates.ts'

const Button = Type.Union([
  Type.Object({ kind: Type.Literal('quick_reply'), text: Type.String() }),
  Type.Object({ kind: Type.Literal('url'), text: Type.String(), url: Type.String() }),
  Type.Object({ kind: Type.Literal('phone'), text: Type.String(), phone: Type.String() }),
  Type.Object({ kind: Type.Literal('code'), text: Type.String(), value: Type.String() }),
])

const approvals = ['approved', 'pending', 'rejected', 'paused', 'disabled'] as const

/** The shape only; what a template must hold is checked where it is saved. */
export const TemplateFile = Type.Object(
  {
    name: Type.String(),
    code: Type.String(),
    channel: Type.Enum(['email', 'sms', 'whatsapp']),
    kind: Type.Optional(Type.Enum(['text', 'carousel', 'verification'])),
    isEnabled: Type.Optional(Type.Boolean()),
    approval: Type.Optional(Type.Enum([...approvals])),
    subject: Type.Optional(Type.String()),
    header: Type.Optional(
      Type.Union([
        Type.Object({ kind: Type.Literal('text'), text: Type.String() }),
        Type.Object({ kind: Type.Enum(['image', 'video', 'document']) }),
      ]),
    ),
    body: Type.String(),
    footer: Type.Optional(Type.String()),
    buttons: Type.Optional(Type.Array(Button)),
    cards: Type.Optional(
      Type.Array(
        Type.Object({ body: Type.Optional(Type.String()), buttons: Type.Optional(Type.Array(Button)) }),
      ),
    ),
    codeExpiryMinutes: Type.Optional(Type.Integer()),
    variables: Type.Optional(Type.Array(Type.String())),
    provider: Type.Optional(
      Type.Object({
        name: Type.String(),
        language: Type.String(),
        parameterFormat: Type.Optional(Type.Enum(['positional', 'named'])),
        category: Type.Optional(Type.Enum(['marketing', 'utility', 'authentication'])),
      }),
    ),
  },
  { additionalProperties: false },
)

export type TemplateFile = Static<typeof TemplateFile>

export function templateOf(given: TemplateFile): TemplateInput {
  const { name, code, channel, kind = 'text', isEnabled, approval, provider, ...content } = given
  return {
    name,
    code,
    channel,
    kind,
    isEnabled,
    approval,
    content: {
      ...content,
      buttons: content.buttons ?? [],
      variables: content.variables ?? [],
      cards: content.cards?.map((card) => ({ ...card, buttons: card.buttons ?? [] })),
      provider: provider && {
        ...provider,
        parameterFormat: provider.parameterFormat ?? 'positional',
        category: provider.category ?? 'utility',
      },
    },
  }
}

/** Without the approval, which is the provider's word and not the company's. */
export function writeTemplate(template: Template): TemplateFile {
  const { buttons, variables, ...content } = template.content
  return {
    name: template.name,
    code: template.code,
    channel: template.channel,
    kind: template.kind,
    isEnabled: template.isEnabled,
    ...content,
    ...(buttons.length > 0 && { buttons }),
    ...(variables.length > 0 && { variables }),
  }
}
