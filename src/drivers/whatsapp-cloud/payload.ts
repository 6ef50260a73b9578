/** From our content to the Cloud API's: one message, or several when files come with it. */
import type {
  FileRef,
  MessageContent,
  TemplateButtonParameter,
  TemplateParameter,
} from '../../domain/message.ts'
import type { JsonObject } from '../json.ts'
import { fileName } from '../files.ts'

type TemplateContent = Extract<MessageContent, { kind: 'template' }>
type TextContent = Extract<MessageContent, { kind: 'text' }>
export type MediaKind = 'image' | 'video' | 'audio' | 'document' | 'sticker'

/** One call. `files` are uploaded first; `body` gets their ids. */
export type Part = { files: FileRef[]; body(mediaIds: ReadonlyMap<FileRef, string>): JsonObject }

const maxCaptionLength = 1024

const kinds: readonly (readonly [mimeType: RegExp, kind: MediaKind])[] = [
  [/^image\/(?:jpeg|png)$/, 'image'],
  [/^video\/(?:mp4|3gpp)$/, 'video'],
  [/^audio\/(?:aac|amr|mpeg|mp4|ogg)$/, 'audio'],
  [/^image\/webp$/, 'sticker'],
]

/** Neither has a caption. */
const isMute = (kind: MediaKind): boolean => kind === 'audio' || kind === 'sticker'

/** What WhatsApp does not show in the conversation goes as a document, also pictures of other formats. */
export const mediaKindOf = (mimeType: string): MediaKind => {
  const [bare] = mimeType.toLowerCase().split(';')
  return kinds.find(([form]) => form.test(bare!.trim()))?.[1] ?? 'document'
}

export const partsOf = (content: MessageContent): Part[] =>
  content.kind === 'template' ? [templatePart(content)] : textParts(content)

const textPart = (text: string): Part => ({ files: [], body: () => ({ type: 'text', text: { body: text } }) })

function textParts({ text, files }: TextContent): Part[] {
  if (files.length === 0) return [textPart(text)]
  const canCaption = text !== '' && Array.from(text).length <= maxCaptionLength
  const carrier = canCaption ? files.findIndex(({ mimeType }) => !isMute(mediaKindOf(mimeType))) : -1
  const media = files.map((file, index) => mediaPart(file, index === carrier ? text : undefined))
  return text !== '' && carrier < 0 ? [textPart(text), ...media] : media
}

function mediaPart(file: FileRef, caption: string | undefined): Part {
  const kind = mediaKindOf(file.mimeType)
  return {
    files: [file],
    body: (ids) => ({
      type: kind,
      [kind]: {
        id: ids.get(file),
        ...(caption === undefined ? {} : { caption }),
        ...(kind === 'document' ? { filename: fileName(file) } : {}),
      },
    }),
  }
}

/** A parameter with a line break, a tab or a run of spaces makes Meta refuse the whole message (132018). */
const oneLine = (value: string): string => value.replaceAll(/\s+/g, ' ').trim()

const textParameter = ({ name, value }: TemplateParameter, isNamed: boolean): JsonObject => ({
  type: 'text',
  ...(isNamed ? { parameter_name: name } : {}),
  text: oneLine(value),
})

function templatePart(content: TemplateContent): Part {
  const { header, body, buttons, cards = [] } = content
  const isNamed = content.parameterFormat === 'named'
  const files = [...(header?.kind === 'media' ? [header.file] : []), ...cards.map(({ file }) => file)]
  const bodyComponent = (parameters: TemplateParameter[]): JsonObject[] =>
    parameters.length === 0
      ? []
      : [{ type: 'body', parameters: parameters.map((each) => textParameter(each, isNamed)) }]
  const components = (ids: ReadonlyMap<FileRef, string>): JsonObject[] => [
    ...headerComponent(header, isNamed, ids),
    ...bodyComponent(body),
    ...buttons.map((button) => buttonComponent(button, isAuthentication(content))),
    ...(cards.length === 0
      ? []
      : [
          {
            type: 'carousel',
            cards: cards.map((card, index) => ({
              card_index: index,
              components: [
                {
                  type: 'header',
                  parameters: [{ type: card.mediaKind, [card.mediaKind]: { id: ids.get(card.file) } }],
                },
                ...bodyComponent(card.body),
                ...card.buttons.map((button) => buttonComponent(button, false)),
              ],
            })),
          },
        ]),
  ]
  return {
    files,
    body(ids) {
      const filled = components(ids)
      const template: JsonObject = { name: content.name, language: { code: content.language } }
      return {
        type: 'template',
        template: filled.length === 0 ? template : { ...template, components: filled },
      }
    },
  }
}

function headerComponent(
  header: TemplateContent['header'],
  isNamed: boolean,
  ids: ReadonlyMap<FileRef, string>,
): JsonObject[] {
  if (header === undefined) return []
  if (header.kind === 'text') {
    if (header.parameters.length === 0) return []
    return [{ type: 'header', parameters: header.parameters.map((each) => textParameter(each, isNamed)) }]
  }
  const { mediaKind, file } = header
  const media = { id: ids.get(file), ...(mediaKind === 'document' ? { filename: fileName(file) } : {}) }
  return [{ type: 'header', parameters: [{ type: mediaKind, [mediaKind]: media }] }]
}

/** With the code as its only variable it is registered as authentication, otherwise as utility. */
const isAuthentication = ({ templateKind, body }: TemplateContent): boolean =>
  templateKind === 'verification' && body.length <= 1

function buttonComponent(button: TemplateButtonParameter, isOneTimeCode: boolean): JsonObject {
  const component = (subType: string, parameter: JsonObject): JsonObject => ({
    type: 'button',
    sub_type: subType,
    index: String(button.index),
    parameters: [parameter],
  })
  const value = oneLine(button.value)
  if (button.kind === 'quick_reply') return component('quick_reply', { type: 'payload', payload: value })
  // The button of an authentication template is sent as a URL, although it copies the code.
  if (button.kind === 'url' || isOneTimeCode) return component('url', { type: 'text', text: value })
  return component('copy_code', { type: 'coupon_code', coupon_code: value })
}
