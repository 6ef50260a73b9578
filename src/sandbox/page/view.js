/** Small helpers that build the page's elements. Data only ever becomes text, never markup. */

const paths = {
  phone: 'M7 3h10a2 2 0 0 1 2 2v14a2 2 0 0 1-2 2H7a2 2 0 0 1-2-2V5a2 2 0 0 1 2-2zM11 18h2',
  mail: 'M4 6h16v12H4zM4 7l8 6 8-6',
  hook: 'M9 17a4 4 0 1 1-2-7M15 8a3.5 3.5 0 1 0-5 3l-3 6M16 20a3.5 3.5 0 1 0-.5-7H10',
  dial: 'M4 8h9M17 8h3M4 16h3M11 16h9M15 6v4M9 14v4',
  moon: 'M20 14.5A8 8 0 0 1 9.5 4a8 8 0 1 0 10.5 10.5z',
  bin: 'M5 7h14M10 7V5h4v2M7 7l1 12h8l1-12M10.5 11v5M13.5 11v5',
  search: 'M11 5a6 6 0 1 0 0 12 6 6 0 0 0 0-12zM15.5 15.5 20 20',
  pen: 'M5 19l1-4L16.5 4.5l3 3L9 18zM14 7l3 3',
  back: 'M15 5l-7 7 7 7',
  send: 'M4 12 20 5l-5 15-3-6.5zM12 13.5 20 5',
  ticks: 'M2 12.5l4 4 8-9M10 15.5l1 1 9-10',
  tick: 'M5 12.5l4.5 4.5L19 7',
  clock: 'M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zM12 8v4.5l3 2',
  cross: 'M6 6l12 12M18 6 6 18',
  file: 'M7 3h7l4 4v14H7zM14 3v4h4',
  link: 'M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1',
  reply: 'M10 8V5l-6 6 6 6v-3.5c5 0 8 1.5 10 5 0-6-3.5-10-10-10.5z',
  copy: 'M9 9h10v11H9zM5 15V4h10',
  call: 'M6 4h4l1.5 4.5L9 10a12 12 0 0 0 5 5l1.5-2.5L20 14v4a2 2 0 0 1-2 2A14 14 0 0 1 4 6a2 2 0 0 1 2-2z',
  picture: 'M4 5h16v14H4zM4 16l5-5 4 4 3-3 4 4M15.5 9.5h.01',
  stop: 'M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zM6.5 6.5l11 11',
}

export function icon(name) {
  const holder = document.createElement('i')
  holder.dataset.icon = name
  drawIcon(holder)
  return holder
}

export function drawIcon(holder) {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg')
  svg.setAttribute('viewBox', '0 0 24 24')
  svg.setAttribute('aria-hidden', 'true')
  const path = document.createElementNS('http://www.w3.org/2000/svg', 'path')
  path.setAttribute('d', paths[holder.dataset.icon] ?? '')
  for (const [name, value] of Object.entries({
    fill: 'none',
    stroke: 'currentColor',
    'stroke-width': '1.8',
    'stroke-linecap': 'round',
    'stroke-linejoin': 'round',
  })) {
    path.setAttribute(name, value)
  }
  svg.append(path)
  holder.replaceChildren(svg)
}

/** `el('button', { class: 'small', onclick }, 'Text', child)`; undefined children are left out. */
export function el(tag, props = {}, ...children) {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined) continue
    if (name.startsWith('aria-')) element.setAttribute(name, String(value))
    else if (value === false) continue
    else if (name.startsWith('on')) element.addEventListener(name.slice(2), value)
    else if (name === 'class') element.className = value
    else element.setAttribute(name, value === true ? '' : String(value))
  }
  element.append(
    ...children.flat().filter((child) => child !== undefined && child !== null && child !== false),
  )
  return element
}

/** Keeps what has not changed, so that pictures do not blink and scrolling stays where it is. */
export function reconcile(parent, items, build) {
  const known = new Map([...parent.children].map((node) => [node.dataset.key, node]))
  let place = parent.firstElementChild
  for (const { key, version, data } of items) {
    let node = known.get(key)
    known.delete(key)
    if (!node || node.dataset.version !== version) {
      const fresh = build(data)
      fresh.dataset.key = key
      fresh.dataset.version = version
      if (!node) fresh.classList.add('fresh')
      if (node === place) place = place?.nextElementSibling ?? null
      node?.remove()
      node = fresh
    }
    if (node === place) place = place.nextElementSibling
    else parent.insertBefore(node, place)
  }
  for (const node of known.values()) node.remove()
}

export const timeOf = (iso) => new Date(iso).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' })
export const dayOf = (iso) => {
  const date = new Date(iso)
  return date.toDateString() === new Date().toDateString()
    ? 'Today'
    : date.toLocaleDateString([], { day: 'numeric', month: 'short', year: 'numeric' })
}
export const whenOf = (iso) => (dayOf(iso) === 'Today' ? timeOf(iso) : dayOf(iso).replace(/,? \d{4}$/, ''))
export const sizeOf = (bytes) =>
  bytes < 1024
    ? `${bytes} B`
    : bytes < 1048576
      ? `${Math.round(bytes / 1024)} KB`
      : `${(bytes / 1048576).toFixed(1)} MB`

export const channelName = { whatsapp: 'WhatsApp', sms: 'SMS', email: 'E-mail' }

export const initials = (name) => {
  const digits = name.replaceAll(/\D/g, '')
  if (digits.length >= 7) return digits.slice(-2)
  return (
    name
      .split(/[\s@.]+/)
      .filter(Boolean)
      .slice(0, 2)
      .map((word) => word[0].toUpperCase())
      .join('') || '?'
  )
}

/** WhatsApp's own marks (*bold*, _italic_, ~struck~, `code`) and addresses one can click. */
export function richText(text) {
  const pattern =
    /(https?:\/\/[^\s<>"]+)|```([^`]+)```|`([^`\n]+)`|\*(\S(?:[^*\n]*\S)?)\*|(?<![\w])_(\S(?:[^_\n]*\S)?)_(?![\w])|~(\S(?:[^~\n]*\S)?)~/g
  const parts = []
  let last = 0
  for (const match of text.matchAll(pattern)) {
    parts.push(text.slice(last, match.index))
    const [whole, url, block, code, bold, italic, struck] = match
    if (url) parts.push(el('a', { href: url, target: '_blank', rel: 'noopener noreferrer' }, url))
    else if (block ?? code) parts.push(el('code', {}, block ?? code))
    else if (bold) parts.push(el('b', {}, bold))
    else if (italic) parts.push(el('em', {}, italic))
    else if (struck) parts.push(el('s', {}, struck))
    last = match.index + whole.length
  }
  parts.push(text.slice(last))
  return parts.filter((part) => part !== '')
}

const statusIcon = { accepted: 'clock', sent: 'tick', delivered: 'ticks', read: 'ticks', failed: 'cross' }

function mediaOf(message, media, place) {
  if (!media) return undefined
  const source = `/api/messages/${message.id}/media${place === undefined ? '' : `/${place}`}`
  const name = media.filename ?? media.link ?? media.kind
  if (media.id && (media.kind === 'image' || media.kind === 'sticker')) {
    return el('img', { class: 'media', src: source, alt: name })
  }
  if (media.id && media.kind === 'video')
    return el('video', { class: 'media', src: source, controls: true, preload: 'metadata' })
  if (media.id && media.kind === 'audio')
    return el('audio', { class: 'media', src: source, controls: true, preload: 'none' })
  const isLink = media.link !== undefined
  return el(
    'a',
    { class: 'file', href: isLink ? media.link : source, target: '_blank', rel: 'noopener noreferrer' },
    icon(isLink ? 'link' : 'file'),
    el('span', {}, name),
  )
}

const buttonIcon = {
  quick_reply: 'reply',
  url: 'link',
  phone_number: 'call',
  copy_code: 'copy',
  other: 'link',
}

const buttonsOf = (buttons, press) =>
  buttons.length > 0 &&
  el(
    'div',
    { class: 'buttons' },
    buttons.map((button, index) => {
      const onclick = (event) => {
        event.stopPropagation()
        press(index)
      }
      return el('button', { type: 'button', onclick }, icon(buttonIcon[button.kind] ?? 'link'), button.text)
    }),
  )

export function bubble(message, { quoted, onSelect, onPress }) {
  const facts = message.whatsapp
  const isOwn = message.direction === 'fromPerson'
  const classes = [
    'bubble',
    isOwn && 'own',
    message.sms?.isFlash && 'flash',
    message.status === 'failed' && 'failed',
    facts?.cards.length > 0 && 'wide',
  ]
  const missing = message.sms && message.sms.partsReceived < message.sms.parts
  return el(
    'div',
    {
      class: classes.filter(Boolean).join(' '),
      tabindex: 0,
      onclick: () => onSelect(message.id),
      onkeydown: (event) => event.key === 'Enter' && onSelect(message.id),
    },
    el(
      'div',
      { class: 'paper' },
      quoted && el('div', { class: 'quote' }, quoted),
      mediaOf(message, facts?.media),
      facts?.header && el('h4', {}, facts.header),
      message.channel === 'whatsapp' ? richText(message.text) : message.text,
      facts?.footer && el('div', { class: 'footer' }, facts.footer),
      el(
        'div',
        { class: `meta ${message.status}` },
        message.sms?.isFlash && el('span', { class: 'tag warn' }, 'flash'),
        missing &&
          el('span', { class: 'tag bad' }, `${message.sms.partsReceived} of ${message.sms.parts} parts`),
        timeOf(message.receivedAt),
        !isOwn && icon(statusIcon[message.status]),
        !isOwn && message.status,
      ),
    ),
    buttonsOf(facts?.buttons ?? [], (index) => onPress(message.id, index)),
    facts?.cards.length > 0 &&
      el(
        'div',
        { class: 'cards' },
        facts.cards.map((card, place) =>
          el(
            'div',
            { class: 'card' },
            mediaOf(message, card.media, place) ?? el('div', { class: 'blank' }, icon('picture')),
            richText(card.text),
            buttonsOf(card.buttons, (index) => onPress(message.id, index, place)),
          ),
        ),
      ),
  )
}

export function factsPanel(message, { onAct }) {
  const rows = [
    ['Channel', channelName[message.channel]],
    ['From', message.from],
    ['To', message.to],
    ['Account', message.line],
    [
      'Template',
      message.whatsapp?.template &&
        `${message.whatsapp.template.name} · ${message.whatsapp.template.language}`,
    ],
    ['Category', message.whatsapp?.template?.category.toLowerCase()],
    ['Type', message.whatsapp?.type],
    [
      'Encoding',
      message.sms && `${message.sms.encoding} (0x${message.sms.dataCoding.toString(16).padStart(2, '0')})`,
    ],
    ['Parts', message.sms && `${message.sms.parts} · ${message.sms.how}`],
    [
      'Receipt asked',
      message.sms && message.direction === 'toPerson' && (message.sms.wantsReceipt ? 'yes' : 'no'),
    ],
    ['Opaque data', message.whatsapp?.callbackData],
  ].filter(([, value]) => value)
  return [
    el('h3', {}, 'Message'),
    el(
      'dl',
      {},
      rows.flatMap(([name, value]) => [el('dt', {}, name), el('dd', {}, value)]),
    ),
    message.providerIds.length > 0 &&
      el('h3', {}, message.providerIds.length > 1 ? 'Provider ids' : 'Provider id'),
    message.providerIds.slice(0, 10).map((id) => el('div', { class: 'mono' }, id)),
    el('h3', {}, 'History'),
    el(
      'ol',
      { class: 'steps' },
      message.history.map(({ status, at, error }) =>
        el(
          'li',
          { class: status },
          el('time', {}, new Date(at).toLocaleTimeString()),
          status,
          error && el('div', {}, el('small', {}, `${error.code} ${error.title}`)),
        ),
      ),
    ),
    el(
      'div',
      { class: 'acts' },
      message.channel !== 'email' &&
        message.direction === 'toPerson' &&
        message.status !== 'read' &&
        message.status !== 'failed' &&
        el(
          'button',
          { type: 'button', class: 'small', onclick: () => onAct('read') },
          icon('ticks'),
          'Mark read',
        ),
      message.direction === 'toPerson' &&
        el(
          'a',
          { class: 'button small', href: `/api/messages/${message.id}/raw`, target: '_blank' },
          icon('file'),
          'Source',
        ),
      el(
        'button',
        { type: 'button', class: 'small danger', onclick: () => onAct('delete') },
        icon('bin'),
        'Delete',
      ),
    ),
  ]
    .flat()
    .filter(Boolean)
}
