import { beforeAll, describe, expect, test } from 'vitest'
import { createHash } from 'node:crypto'
import { expectAccepted, expectInvalid, useUnified, type Body } from './support.ts'

const u = useUnified()
const c = () => u.company

const pictures = ['first', 'second', 'third'].map((name) => Buffer.from(`picture ${name}`))
const hashOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
let urls: string[] = []
let name = ''

beforeAll(async () => {
  urls = []
  for (const picture of pictures) urls.push((await c().addMedia(picture)).url)
  const template = await c().addTemplate({
    channel: 'whatsapp',
    kind: 'carousel',
    content: {
      body: 'Offers for @FirstName',
      variables: ['FirstName'],
      cards: [{ buttons: [] }, { buttons: [] }, { buttons: [] }],
    },
  })
  name = template.name
})

const send = (values: unknown[], extra: Body = {}, names = ['any', 'name', 'will do']) =>
  c().send(
    c().whatsapp({
      templateName: name,
      templateParameters: values.map((parameterValue, index) => ({
        parameterName: names[index] ?? `more ${index}`,
        parameterValue,
      })),
      contact: { name: 'Ana Lima' },
      ...extra,
    }),
  )

describe('a carousel', () => {
  test('takes as many pictures as it has cards, in the order listed, under any names', async () => {
    const answer = await send([urls[2], urls[0], urls[1]])
    expectAccepted(answer)
    const { content } = await c().message(answer)
    expect(content.templateKind).toBe('carousel')
    expect(content.cards!.map((card) => card.file.source.hash)).toEqual(
      [pictures[2]!, pictures[0]!, pictures[1]!].map(hashOf),
    )
  })

  test('takes one picture several times', async () => {
    expectAccepted(await send([urls[0], urls[0], urls[0]]))
  })

  test("fills its body's variables from contact data", async () => {
    const { content } = await c().message(await send(urls))
    expect(content.body).toMatchObject([{ name: 'FirstName', value: 'Ana' }])
    expect(content.preview).toContain('Offers for Ana')
  })

  test("a body's variable without contact data is refused by its name", async () => {
    const answer = await send(urls, { contact: undefined })
    expectInvalid(answer, 'templateParameters')
    expect(JSON.stringify(answer.body['errors'])).toContain('FirstName')
  })

  test.for<[string, () => unknown[]]>([
    ['none', () => []],
    ['too few', () => urls.slice(0, 2)],
    ['too many', () => [...urls, urls[0]]],
    ['an address elsewhere', () => [urls[0], urls[1], 'https://example.com/picture.png']],
    ['a media address without its extension', () => [urls[0], urls[1], urls[2]!.replace(/\.png$/, '')]],
    ['a media address with another extension', () => [urls[0], urls[1], urls[2]!.replace(/\.png$/, '.jpg')]],
    ['an item that does not exist', () => [urls[0], urls[1], urls[2]!.replace(/.{4}\.png$/, '0000.png')]],
    ['no address', () => [urls[0], urls[1], 'picture']],
    ['an empty value', () => [urls[0], urls[1], '']],
  ])('%s: 400, nothing stored', async ([, values]) => {
    const before = await c().traces()
    expectInvalid(await send(values()), /^templateParameters/)
    expect(await c().traces()).toEqual(before)
  })

  test("another company's picture is not in the library: 400", async () => {
    const other = await u.newCompany()
    const theirs = await other.addMedia(Buffer.from('theirs'))
    expectInvalid(await send([urls[0], urls[1], theirs.url]), /^templateParameters/)
  })
})
