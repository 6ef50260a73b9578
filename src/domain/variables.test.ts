import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  compileText,
  contactVariable,
  contactVariableNames,
  escapeHtml,
  fillText,
  headerSafe,
  numberedVariable,
  variableKey,
  variablesIn,
  whatsappParameter,
} from './variables.ts'

const fill = (text: string, values: Record<string, string>, declared?: readonly string[]) =>
  fillText(compileText(text, declared), (key) => values[key])

describe('syntax', () => {
  test.each([
    ['Hi @Name!', ['Name']],
    ['@Name', ['Name']],
    ['(@Name)', ['Name']],
    ['@Name@Tag', ['Name']],
    ['@Name, @NAME and @name', ['Name']],
    ['@Name.', ['Name']],
    ['@NameTag @Name_2', ['NameTag', 'Name_2']],
    ['@1 @2', ['1', '2']],
    ['@Endereço @Endereço', ['Endereço']],
    ['@@Name', ['Name']],
    ['a@b.com', []],
    ['a.b.@c', []],
    ['a_@b é@c ٣@d', []],
    ['@ Name', []],
    ['', []],
  ])('%j', (text, names) => {
    expect(variablesIn(text)).toEqual(names)
  })

  test('names compare without regard to case, space, @ and the way accents are typed', () => {
    expect(variableKey(' @Endereço ')).toBe(variableKey('ENDEREÇO'))
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (name) => {
        fc.pre(!name.trim().replace(/^@/, '').startsWith('@') && !/^@?\s|\s$/.test(name.trim()))
        expect(variableKey(variableKey(name))).toBe(variableKey(name))
      }),
    )
  })
})

describe('filling', () => {
  test('replaces declared variables only', () => {
    const css = '<style>@media print { a { color: red } }</style>@Code, mail a@code.com, @Name'
    expect(fill(css, { code: '42' }, ['@code'])).toEqual({
      text: '<style>@media print { a { color: red } }</style>42, mail a@code.com, @Name',
      missing: [],
    })
  })

  test('free text knows the contact variables', () => {
    expect(
      fill('Hi @firstname of @Company, write to @Support or help@name.com', { firstname: 'Ana' }),
    ).toEqual({
      text: 'Hi Ana of , write to @Support or help@name.com',
      missing: ['Company'],
    })
  })

  test('names each missing variable once, as declared', () => {
    expect(fill('@CODE @code @x', {}, ['@Code', 'X'])).toEqual({ text: '  ', missing: ['Code', 'X'] })
  })

  test('an empty value is a value', () => {
    expect(fill('[@Code]', { code: '' }, ['Code'])).toEqual({ text: '[]', missing: [] })
  })

  test('a longer name is another name', () => {
    expect(fill('@Code @CodeX @Code1', { code: '42' }, ['Code']).text).toBe('42 @CodeX @Code1')
  })

  const pieceOfText = fc.oneof(
    fc.constantFrom('@', '@Name', '@code', '@media', 'a@b.com', '.', '_', ' ', 'é', '\n', '$&', '$1'),
    fc.string({ unit: 'binary', maxLength: 5 }),
  )
  const anyText = fc.array(pieceOfText).map((pieces) => pieces.join(''))

  test('text without its variables is unchanged', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(fill(text, { other: 'x' }, ['Other']).text).toBe(text)
        const same = Object.fromEntries(variablesIn(text).map((name) => [variableKey(name), 'x']))
        expect(fill(text, same, []).text).toBe(text)
      }),
    )
  })

  test('values are never looked at for variables', () => {
    fc.assert(
      fc.property(anyText, anyText, (name, code) => {
        expect(fill('<@Name|@Code>', { name, code }, ['Name', 'Code']).text).toBe(`<${name}|${code}>`)
      }),
    )
  })

  test('what is escaped is the values, not the text', () => {
    fc.assert(
      fc.property(anyText, (value) => {
        const { text } = fillText(compileText('<b>@Code</b>', ['Code']), () => value, escapeHtml)
        const inside = text.slice('<b>'.length, -'</b>'.length)
        expect(text.startsWith('<b>') && text.endsWith('</b>')).toBe(true)
        expect(inside).not.toMatch(/[<>"']/)
        const back: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }
        expect(inside.replace(/&([a-z0-9#]+);/g, (_, entity: string) => back[entity]!)).toBe(value)
      }),
    )
  })
})

describe('escaping', () => {
  test('HTML', () => {
    expect(escapeHtml(`<a href="x">'&'</a>`)).toBe('&lt;a href=&quot;x&quot;&gt;&#39;&amp;&#39;&lt;/a&gt;')
  })

  test('headers stay on one line', () => {
    expect(headerSafe('Hi\r\nBcc: x@example.com\u0000')).toBe('Hi Bcc: x@example.com')
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('a', '\r', '\n', '\0', '\u0085', '\u2028', '\u001b') }),
        (value) => !/[\r\n\p{Cc}\u2028]/u.test(headerSafe(value)),
      ),
    )
  })

  test('WhatsApp parameters have single spaces only', () => {
    expect(whatsappParameter(' a\n\nb\tc     d ')).toBe('a b c d')
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('a', ' ', '\n', '\t', '\r', '\u00a0') }),
        (value) => !/[\n\r\t]| {2}|^ | $/.test(whatsappParameter(value)),
      ),
    )
  })
})

describe('contact variables', () => {
  const contact = {
    name: ' Ana  Maria de Souza ',
    phone: '5531996883193',
    email: 'ana@example.com',
    taxId: '123',
    customCode: 'gold',
    tag: 'vip',
    walletName: 'North',
    jokers: ['one', null, ''],
  }
  const context = { attendantName: 'Rui', companyName: 'Acme' }
  const valueOf = (name: string) => contactVariable(variableKey(name), contact, context)

  test('each has its value', () => {
    expect(Object.fromEntries(contactVariableNames.map((name) => [name, valueOf(name)]))).toEqual({
      Name: 'Ana  Maria de Souza',
      FirstName: 'Ana',
      LastName: 'Souza',
      Phone: '5531996883193',
      Email: 'ana@example.com',
      Id: '123',
      CustomCode: 'gold',
      Tag: 'vip',
      Wallet: 'North',
      Attendant: 'Rui',
      Company: 'Acme',
      Joker1: 'one',
      Joker2: undefined,
      Joker3: undefined,
      Joker4: undefined,
      Joker5: undefined,
    })
  })

  test('other names have none', () => {
    for (const name of ['Joker0', 'Joker6', 'Code', 'constructor', '']) expect(valueOf(name)).toBeUndefined()
  })

  test('one word is a first name', () => {
    const single = { ...contact, name: 'Ana' }
    expect(contactVariable('firstname', single, context)).toBe('Ana')
    expect(contactVariable('lastname', single, context)).toBeUndefined()
    expect(contactVariable('firstname', { ...contact, name: null }, context)).toBeUndefined()
  })

  test('numbered variables take the jokers', () => {
    expect(['1', '2', '3', '4', '6', '01', 'x'].map((key) => numberedVariable(key, contact))).toEqual([
      'one',
      ...Array<undefined>(6),
    ])
  })
})
