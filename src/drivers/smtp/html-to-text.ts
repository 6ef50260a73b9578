/** The plain alternative of an HTML mail: what a reader without HTML needs, not a picture of the layout. */

/** Elements whose content nobody reads. */
const hidden = new Set(['script', 'style', 'head', 'title', 'template'])
const breaks = new Map([
  ...['p', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'ul', 'ol', 'table', 'blockquote', 'pre', 'hr'].map(
    (name) => [name, '\n\n'] as const,
  ),
  ...['section', 'article', 'header', 'footer'].map((name) => [name, '\n\n'] as const),
  ...['br', 'div', 'tr', 'dt', 'dd', 'li'].map((name) => [name, '\n'] as const),
])
const tagForm = /^<(\/?)([a-z][a-z0-9]*)/i
const maxTagLength = 4096

const named: Record<string, string> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  copy: '©',
  reg: '®',
  euro: '€',
  ndash: '–',
  mdash: '—',
  hellip: '…',
  laquo: '«',
  raquo: '»',
  bull: '•',
  middot: '·',
  ordf: 'ª',
  ordm: 'º',
  deg: '°',
}
const accents: Record<string, string> = {
  acute: '\u0301',
  grave: '\u0300',
  circ: '\u0302',
  tilde: '\u0303',
  uml: '\u0308',
  cedil: '\u0327',
}

function decodeEntity(whole: string, body: string): string {
  if (body.startsWith('#')) {
    const code = /^#x/i.test(body) ? parseInt(body.slice(2), 16) : parseInt(body.slice(1), 10)
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole
  }
  const [, letter, accent] = /^([a-z])(acute|grave|circ|tilde|uml|cedil)$/i.exec(body) ?? []
  if (letter !== undefined && accent !== undefined) return (letter + accents[accent]!).normalize('NFC')
  return named[body] ?? whole
}

const attribute = (tag: string, name: 'href' | 'alt'): string => {
  const [, double, single, bare] =
    new RegExp(`\\s${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s>]+))`, 'i').exec(tag) ?? []
  return decodeEntities((double ?? single ?? bare ?? '').trim())
}

const decodeEntities = (text: string): string =>
  text.replaceAll(/&(#x?[0-9a-f]{1,8}|[a-z]{2,10});/gi, decodeEntity)

/** Where the tag that opens at `from` ends: its `>` outside of quotes, or -1. */
function endOfTag(html: string, from: number): number {
  let quote = ''
  for (let at = from; at < html.length && at - from < maxTagLength; at++) {
    const character = html[at]!
    if (quote !== '') {
      if (character === quote) quote = ''
    } else if (character === '"' || character === "'") quote = character
    else if (character === '>') return at
    // A tag that begins anew never ended. Looking on for each of them cost seconds for a megabyte of `<p <p <p`.
    else if (character === '<' && at > from) return -1
  }
  return -1
}

/** One pass, since whoever writes the HTML may not be a friend: patterns over the whole text took minutes. */
export function htmlToText(html: string): string {
  const lower = html.toLowerCase()
  let text = ''
  let link: { href: string; from: number } | undefined
  const endLink = (): void => {
    const label = link ? text.slice(link.from).trim() : ''
    // Anchors and scripts lead nowhere in plain text; an address that is its own label stands once.
    if (
      link &&
      /^(?:https?|mailto|tel):/i.test(link.href) &&
      link.href !== label &&
      link.href.replace(/^\w+:/, '') !== label
    ) {
      text = `${text.trimEnd()} (${link.href})`
    }
    link = undefined
  }
  for (let at = 0; at < html.length;) {
    const open = html.indexOf('<', at)
    const textEnd = open < 0 ? html.length : open
    if (textEnd > at) text += decodeEntities(html.slice(at, textEnd).replaceAll(/\s+/g, ' '))
    if (open < 0) break
    if (html.startsWith('<!', open)) {
      const end = html.startsWith('<!--', open) ? html.indexOf('-->', open + 4) : html.indexOf('>', open)
      if (end < 0) break
      at = end + (html.startsWith('<!--', open) ? 3 : 1)
      continue
    }
    const [, slash, given] = tagForm.exec(html.slice(open, open + 16)) ?? []
    const end = given === undefined ? -1 : endOfTag(html, open)
    if (given === undefined || end < 0) {
      text += '<'
      at = open + 1
      continue
    }
    const name = given.toLowerCase()
    const tag = html.slice(open, end + 1)
    at = end + 1
    if (slash === '' && hidden.has(name)) {
      const close = lower.indexOf(`</${name}`, at)
      if (close < 0) break
      at = close
    } else if (name === 'a') {
      endLink()
      if (slash === '') link = { href: attribute(tag, 'href'), from: text.length }
    } else if (name === 'img') text += attribute(tag, 'alt')
    else if (name === 'li' && slash === '') text += text.endsWith('\n') ? '- ' : '\n- '
    else if ((name === 'td' || name === 'th') && slash !== '') text += ' '
    else {
      const lines = breaks.get(name) ?? ''
      // The end of a row and the begin of the next are one break; a <br> always is one.
      if (lines.length !== 1 || name === 'br' || !text.endsWith('\n')) text += lines
    }
  }
  endLink()
  return text
    .split('\n')
    .map((line) => line.replaceAll(/ {2,}/g, ' ').trim())
    .join('\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim()
}
