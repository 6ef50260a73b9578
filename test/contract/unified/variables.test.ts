import { describe, expect, test } from 'vitest'
import {
  digitsOf,
  errorsAt,
  expectAccepted,
  expectInvalid,
  freshEmail,
  freshPhone,
  shownText,
  useUnified,
  type Body,
} from './support.ts'

const u = useUnified()
const c = () => u.company

const ana: Body = {
  name: 'Ana Maria Lima',
  customCode: 'C-9',
  id: '123',
  tag: 'vip',
  jokers: ['one', 'two', 'three', 'four', 'five'],
}

const freeText = async (text: string, extra: Body = {}): Promise<string> => {
  const answer = await c().send(c().sms({ text, contact: ana, ...extra }))
  expectAccepted(answer)
  return (await c().message(answer)).content.text
}

describe('contact variables in free text', () => {
  test.for([
    ['@Name', 'Ana Maria Lima'],
    ['@FirstName', 'Ana'],
    ['@LastName', 'Lima'],
    ['@Id', '123'],
    ['@CustomCode', 'C-9'],
    ['@Tag', 'vip'],
    ['@Joker1', 'one'],
    ['@Joker2', 'two'],
    ['@Joker3', 'three'],
    ['@Joker4', 'four'],
    ['@Joker5', 'five'],
  ])('%s is %s', async ([variable, value]) => {
    expect(await freeText(`<${variable}>`)).toBe(`<${value}>`)
  })

  test('@Phone is the number', async () => {
    const to = freshPhone()
    expect(await freeText('@Phone', { destination: to })).toMatch(new RegExp(`^\\+?${digitsOf(to)}$`))
  })

  test('@Email is the address', async () => {
    const email = freshEmail()
    const answer = await c().send(c().email({ text: 'to @Email', destination: { email } }))
    expect((await c().message(answer)).content.text).toBe(`to ${email}`)
  })

  test('@Wallet is the name of the segment', async () => {
    const contact = { ...ana, walletClientCode: c().segments.gold.clientCode }
    expect(await freeText('@Wallet', { contact })).toBe('Gold')
  })

  test('@Attendant is the user of the attendance, the one named in the call first', async () => {
    expect(await freeText('@Attendant', { attendantUserName: c().users.maria.name })).toBe(
      c().users.maria.name,
    )
    const to = freshPhone()
    await c().openAttendance(await c().addContact(to), c().users.joao.id, u.app.clock.now())
    expect(await freeText('@Attendant', { destination: to })).toBe(c().users.joao.name)
  })

  test('@Company is the name of the company', async () => {
    expect(await freeText('@Company')).toBe(c().name)
  })

  test.for(['@name', '@NAME', '@nAmE'])('%s: without regard to case', async (variable) => {
    expect(await freeText(variable)).toBe('Ana Maria Lima')
  })

  test.for([
    ['(@FirstName)', '(Ana)'],
    ['@FirstName!', 'Ana!'],
    ['@FirstName.', 'Ana.'],
    ['@FirstName,@LastName', 'Ana,Lima'],
    // The second one follows a letter, so it is none.
    ['@FirstName@LastName', 'Ana@LastName'],
    ['-@FirstName-', '-Ana-'],
    ['\n@FirstName\n', '\nAna\n'],
    ['@@FirstName', '@Ana'],
    ['@FirstName\u2019s', 'Ana\u2019s'],
  ])('%j becomes %j', async ([text, expected]) => {
    expect(await freeText(text!)).toBe(expected)
  })

  test.for([
    'ana@Name.com',
    'x@Name',
    '9@Name',
    '.@Name',
    '_@Name',
    'é@Name',
    '@Names',
    '@Name_',
    '@Name1',
    '@NameÉ',
    '@Nobody',
    '@Joker6',
    '@Joker0',
    '@',
    '@ Name',
    'mail to someone@example.com',
  ])('%j stays as it is', async (text) => {
    expect(await freeText(text)).toBe(text)
  })

  test('a known one without value becomes empty', async () => {
    expect(await freeText('[@Tag][@Joker3][@Attendant][@Wallet][@Email]', { contact: { name: 'Ana' } })).toBe(
      '[][][][][]',
    )
  })

  test('a value is never read for variables', async () => {
    expect(await freeText('@Joker1 @Joker2', { contact: { jokers: ['@Joker2', '@Name'] } })).toBe(
      '@Joker2 @Name',
    )
  })

  test('the data of the call comes first, then what is stored', async () => {
    const to = freshPhone()
    await c().addContact(to, { name: 'Stored Name', tag: 'stored' })
    expect(await freeText('@Name @Tag', { destination: to, contact: { name: 'Given Name' } })).toBe(
      'Given Name stored',
    )
  })

  test('are filled in the subject of an e-mail too', async () => {
    const answer = await c().send(c().email({ emailSubject: 'For @FirstName (a@Name.com)', contact: ana }))
    expect((await c().message(answer)).content.subject).toBe('For Ana (a@Name.com)')
  })
})

const parameters = (values: Record<string, unknown>) =>
  Object.entries(values).map(([parameterName, parameterValue]) => ({ parameterName, parameterValue }))

const render = async (
  body: string,
  variables: string[],
  values: Record<string, unknown>,
  extra: Body = {},
) => {
  const template = await c().addTemplate({ channel: 'sms', content: { body, variables } })
  return c().send(c().sms({ templateName: template.name, templateParameters: parameters(values), ...extra }))
}
const rendered = async (...call: Parameters<typeof render>): Promise<string> => {
  const answer = await render(...call)
  expectAccepted(answer)
  return shownText(await c().message(answer))
}

describe('variables of a template', () => {
  test('are replaced wherever they stand', async () => {
    expect(await rendered('@A, @B and @A again', ['A', 'B'], { A: 'x', B: 'y' })).toBe('x, y and x again')
  })

  test('only those that it declares', async () => {
    const body = '@media screen { p { color: red } } @Name @Other a@A.com @A'
    expect(await rendered(body, ['A'], { A: 'x', Name: 'ignored', media: 'ignored' }, { contact: ana })).toBe(
      '@media screen { p { color: red } } @Name @Other a@A.com x',
    )
  })

  test('undeclared names in the request are ignored', async () => {
    expect(await rendered('@A', ['A'], { A: 'x', Whatever: 'y' })).toBe('x')
  })

  test.for(['Order', 'order', 'ORDER', '@Order', '@order', ' Order '])('are given as %j', async (name) => {
    expect(await rendered('Order @Order', ['Order'], { [name]: '42' })).toBe('Order 42')
  })

  test.for<[string, string]>([
    ['A', 'A'],
    ['A', 'a'],
    ['A', '@A'],
  ])('given twice, as %s and %s: 400', async ([one, two]) => {
    const template = await c().addTemplate({ channel: 'sms', content: { body: '@A', variables: ['A'] } })
    const answer = await c().send(
      c().sms({
        templateName: template.name,
        templateParameters: [...parameters({ [one]: '1' }), ...parameters({ [two]: '2' })],
      }),
    )
    expectInvalid(answer, /^templateParameters/)
  })

  test('take the request first, then the data of the call, then what is stored', async () => {
    const to = freshPhone()
    await c().addContact(to, { name: 'Stored Name', tag: 'stored', custom_code: 'stored' })
    const text = await rendered(
      '@Name|@Tag|@CustomCode',
      ['Name', 'Tag', 'CustomCode'],
      { Name: 'Requested' },
      { destination: to, contact: { name: 'Given', tag: 'given' } },
    )
    expect(text).toBe('Requested|given|stored')
  })

  test('an empty value in the request is a value, also of a contact variable', async () => {
    expect(await rendered('[@Name]', ['Name'], { Name: '' }, { contact: ana })).toBe('[]')
  })

  test('numbered ones that are not given take the jokers', async () => {
    const text = await rendered('@1 @2 @3', ['1', '2', '3'], { 2: 'given' }, { contact: ana })
    expect(text).toBe('one given three')
  })

  test('numbered ones take stored jokers too', async () => {
    const to = freshPhone()
    await c().addContact(to, { jokers: ['stored one', 'stored two'] })
    const text = await rendered(
      '@1 @2',
      ['1', '2'],
      {},
      { destination: to, contact: { jokers: ['given one'] } },
    )
    expect(text).toBe('given one stored two')
  })

  test('jokers fill variables that bear their names', async () => {
    expect(await rendered('@Joker2/@joker5', ['Joker2', 'Joker5'], {}, { contact: ana })).toBe('two/five')
  })

  test('one left without value is refused by its name, with all others like it', async () => {
    const answer = await render(
      '@Order @Place @A @6',
      ['Order', 'Place', 'A', '6'],
      { A: 'x' },
      { contact: ana },
    )
    expectInvalid(answer, 'templateParameters')
    const named = errorsAt(answer, 'templateParameters')
    expect(named).toContain('Order')
    expect(named).toContain('Place')
    expect(named).toContain('6')
  })

  test('a contact variable without value is one left without value', async () => {
    const answer = await render('@Tag', ['Tag'], {})
    expectInvalid(answer, 'templateParameters')
    expect(errorsAt(answer, 'templateParameters')).toContain('Tag')
  })

  test('values are not read for further variables', async () => {
    expect(await rendered('@A @B', ['A', 'B'], { A: '@B', B: '@A' })).toBe('@B @A')
  })
})

describe('values are escaped for where they land', () => {
  const dangerous = `<b>"Tom" & 'Jerry'</b>`

  test('in HTML', async () => {
    const template = await c().addTemplate({
      channel: 'email',
      content: { subject: 'S', body: '<p title="@A">@A</p>', variables: ['A'] },
    })
    const answer = await c().send(
      c().email({ templateName: template.name, templateParameters: parameters({ A: dangerous }) }),
    )
    const { text } = (await c().message(answer)).content
    expect(text).not.toContain('<b>')
    expect(text).not.toContain('"Tom"')
    expect(text).toContain('&lt;b&gt;')
    expect(text).toContain('&amp;')
  })

  test('in free HTML text', async () => {
    const answer = await c().send(c().email({ text: '<p>@Name</p>', contact: { name: dangerous } }))
    const { text } = (await c().message(answer)).content
    expect(text).toContain('&lt;b&gt;')
    expect(text).not.toContain('<b>')
  })

  test('not in plain text', async () => {
    expect(await freeText('@Name', { contact: { name: dangerous } })).toBe(dangerous)
    const answer = await c().send(c().email({ text: 'Dear @Name', contact: { name: dangerous } }))
    expect((await c().message(answer)).content.text).toBe(`Dear ${dangerous}`)
  })

  test('in a header: a line break cannot start another one', async () => {
    const template = await c().addTemplate({
      channel: 'email',
      content: { subject: 'About @A', body: 'x @A', variables: ['A'] },
    })
    const value = 'orders\r\nBcc: somebody@example.com'
    const answer = await c().send(
      c().email({
        templateName: template.name,
        emailSubject: '',
        templateParameters: parameters({ A: value }),
      }),
    )
    expectAccepted(answer)
    const { subject } = (await c().message(answer)).content
    expect(subject).toMatch(/^About orders/)
    expect(subject).not.toMatch(/[\r\n]/)
  })

  test('in a subject, values are not escaped for HTML', async () => {
    const answer = await c().send(c().email({ emailSubject: '@Name', contact: { name: 'Tom & Jerry' } }))
    expect((await c().message(answer)).content.subject).toBe('Tom & Jerry')
  })

  test('WhatsApp parameters: line breaks, tabs and runs of spaces become one space', async () => {
    const answer = await c().send(
      c().whatsapp({ templateParameters: parameters({ FirstName: 'Ana', Order: 'a\r\n\tb      c\nd' }) }),
    )
    expectAccepted(answer)
    const { content } = await c().message(answer)
    expect(content.body.map((parameter) => parameter.value)).toEqual(['Ana', 'a b c d'])
  })
})
