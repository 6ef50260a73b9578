/** The page's state and its links to the API: messages by id, live by server-sent events, the place in the hash. */
import { chaosSheet, isCalm } from './chaos.js'
import {
  bubble,
  channelName,
  dayOf,
  drawIcon,
  el,
  factsPanel,
  icon,
  initials,
  reconcile,
  sizeOf,
  timeOf,
  whenOf,
} from './view.js'

const byId = (id) => document.getElementById(id)
const maxMessages = 2000

const state = {
  messages: new Map(),
  callbacks: [],
  chaos: undefined,
  status: undefined,
  view: 'phone',
  conversation: '',
  selected: '',
  mail: '',
  mailTab: 'html',
  peopleSearch: '',
  mailSearch: '',
}

// ---------- API

async function api(path, method = 'GET', body) {
  const answer = await fetch(path, {
    method,
    ...(body === undefined
      ? {}
      : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  })
  const content = await answer.json()
  if (!answer.ok) throw new Error([content.error?.field, content.error?.message].filter(Boolean).join(' '))
  return content
}

let toastTimer
function toast(text, isBad = false) {
  const holder = byId('toast')
  holder.textContent = text
  holder.classList.toggle('bad', isBad)
  holder.hidden = false
  clearTimeout(toastTimer)
  toastTimer = setTimeout(() => (holder.hidden = true), 4000)
}

async function attempt(work) {
  try {
    return await work()
  } catch (fault) {
    toast(fault.message, true)
    return undefined
  }
}

// ---------- conversations

const isPhone = (message) => message.channel !== 'email'
const personOf = (message) => (message.direction === 'toPerson' ? message.to : message.from)
const businessOf = (message) => (message.direction === 'toPerson' ? message.from : message.to)
const keyOf = (message) => `${message.channel}|${personOf(message)}|${businessOf(message)}`
const isUnread = (message) =>
  message.direction === 'toPerson' && message.status !== 'read' && message.status !== 'failed'
const sorted = () => [...state.messages.values()].toSorted((a, b) => a.sequence - b.sequence)

function conversations() {
  const found = new Map()
  for (const message of sorted().filter(isPhone)) {
    const key = keyOf(message)
    const known = found.get(key) ?? {
      key,
      channel: message.channel,
      person: personOf(message),
      business: businessOf(message),
      messages: [],
    }
    known.messages.push(message)
    found.set(key, known)
  }
  return [...found.values()].toSorted((a, b) => b.messages.at(-1).sequence - a.messages.at(-1).sequence)
}

const businessName = (conversation) =>
  state.status?.graph.phoneNumbers.find((phone) => phone.number === conversation.business)?.verifiedName ??
  conversation.business

function snippet(message) {
  const media = message.whatsapp?.media
  const text =
    message.text || (media ? `[${media.kind}]` : '') || (message.whatsapp?.cards.length ? '[carousel]' : '')
  return (message.direction === 'fromPerson' ? 'You: ' : '') + text.replaceAll(/\s+/g, ' ').slice(0, 120)
}

const includes = (text, wanted) => text.toLowerCase().includes(wanted.toLowerCase())

function renderPeople() {
  const wanted = state.peopleSearch
  const all = conversations()
  const shown =
    wanted === ''
      ? all
      : all.filter(
          (item) =>
            [item.person, item.business, businessName(item)].some((text) => includes(text, wanted)) ||
            item.messages.some((message) => includes(message.text, wanted)),
        )
  const list = byId('people')
  if (shown.length === 0) {
    list.replaceChildren(
      el('div', { class: 'empty-list' }, wanted ? 'Nothing found.' : 'No conversations yet.'),
    )
    return all
  }
  list.querySelector('.empty-list')?.remove()
  reconcile(
    list,
    shown.map((item) => {
      const last = item.messages.at(-1)
      const isCurrent = item.key === state.conversation
      return {
        key: item.key,
        version: `${last.id}|${item.messages.length}|${isCurrent}|${item.messages.filter(isUnread).length}|${businessName(item)}|${last.status}`,
        data: { item, last, isCurrent },
      }
    }),
    ({ item, last, isCurrent }) =>
      el(
        'button',
        {
          type: 'button',
          class: `row ${item.messages.some(isUnread) ? 'unread' : ''}`,
          role: 'listitem',
          'aria-current': isCurrent,
          onclick: () => go(`phone/${encodeURIComponent(item.key)}`),
        },
        el('span', { class: `avatar ${item.channel}` }, initials(item.person)),
        el(
          'div',
          { class: 'body' },
          el('div', { class: 'line' }, el('b', {}, item.person), el('time', {}, whenOf(last.receivedAt))),
          el('p', {}, snippet(last)),
          el(
            'div',
            { class: 'tags' },
            el('span', { class: `tag ${item.channel}` }, channelName[item.channel]),
            el('span', { class: 'tag' }, businessName(item)),
            last.status === 'failed' && el('span', { class: 'tag bad' }, 'failed'),
          ),
        ),
      ),
  )
  return all
}

function renderWelcome() {
  const { smtp, smpp, graph } = state.status ?? { smtp: {}, smpp: {}, graph: {} }
  const host = location.hostname
  const door = (channel, title, address, more) =>
    el(
      'div',
      { class: 'door' },
      el(
        'span',
        { class: `avatar ${channel}` },
        icon(channel === 'email' ? 'mail' : channel === 'sms' ? 'phone' : 'reply'),
      ),
      el(
        'div',
        {},
        el('b', {}, title),
        el('span', { class: 'mono' }, address),
        el('small', {}, el('br'), more),
      ),
    )
  byId('welcome').replaceChildren(
    el('h1', {}, 'Three providers, one phone, nobody disturbed'),
    el(
      'p',
      {},
      'Point your software at these doors. What it sends shows up here, live, as the person would see it. Nothing leaves this machine.',
    ),
    el(
      'div',
      { class: 'doors' },
      door(
        'whatsapp',
        'WhatsApp Cloud API',
        graph.baseUrl ?? '…',
        (graph.phoneNumbers ?? [])
          .map((phone) => `${phone.verifiedName} ${phone.number} (id ${phone.id})`)
          .join(' · '),
      ),
      door(
        'sms',
        'SMS by SMPP 3.4',
        `${host}:${smpp.port ?? '…'}`,
        `System id ${(smpp.accounts ?? []).join(', ')}`,
      ),
      door('email', 'E-mail by SMTP', `${host}:${smtp.port ?? '…'}`, 'AUTH and STARTTLS'),
    ),
    el(
      'p',
      { class: 'after' },
      'Passwords and tokens stand in sandbox.json in the data folder; “pombo sandbox” prints them. The pen on the left writes as a person.',
    ),
  )
}

function renderPhone() {
  const all = renderPeople()
  const current = all.find((item) => item.key === state.conversation)
  const view = document.querySelector('[data-view="phone"]')
  view.classList.toggle('open', Boolean(current))
  view.classList.toggle('bare', all.length === 0)
  byId('handset').hidden = !current
  byId('welcome').hidden = Boolean(current)
  byId('facts').hidden = !current
  if (!current) return renderWelcome()

  byId('screen').dataset.channel = current.channel
  const name = businessName(current)
  byId('chat-name').textContent = name
  byId('chat-sub').textContent = `on the phone ${current.person}`
  const avatar = byId('chat-avatar')
  avatar.className = `avatar ${current.channel}`
  avatar.textContent = initials(name)
  byId('chat-read').hidden = !current.messages.some(isUnread)

  const chat = byId('chat')
  const isAtEnd =
    chat.scrollHeight - chat.scrollTop - chat.clientHeight < 60 || chat.dataset.of !== current.key
  const items = []
  let day = ''
  for (const message of current.messages) {
    if (dayOf(message.receivedAt) !== day) {
      day = dayOf(message.receivedAt)
      items.push({ key: `day ${day}`, version: '', data: { day } })
    }
    const quoted =
      message.whatsapp?.contextId &&
      sorted().find((other) => other.providerIds.includes(message.whatsapp.contextId))
    items.push({
      key: message.id,
      version: `${message.status}|${message.id === state.selected}`,
      data: { message, quoted: quoted && snippet(quoted) },
    })
  }
  if (chat.dataset.of !== current.key) chat.replaceChildren()
  chat.dataset.of = current.key
  reconcile(chat, items, ({ day: label, message, quoted }) => {
    if (label) return el('div', { class: 'day' }, label)
    const node = bubble(message, { quoted, onSelect: select, onPress: press })
    if (message.id === state.selected) node.setAttribute('aria-current', 'true')
    return node
  })
  if (isAtEnd) chat.scrollTop = chat.scrollHeight

  const chosen = current.messages.find(({ id }) => id === state.selected) ?? current.messages.at(-1)
  byId('facts').replaceChildren(...factsPanel(chosen, { onAct: (act) => actOn(chosen, act) }))
}

function select(id) {
  state.selected = id
  render()
}

const press = (id, index, card) =>
  attempt(async () => {
    const done = await api(`/api/messages/${id}/button`, 'POST', { index, card })
    if (done.url) toast(`Opens ${done.url}`)
    if (done.code) toast(`Copied ${done.code}`)
  })

const actOn = (message, act) =>
  attempt(async () => {
    if (act === 'delete') {
      await api(`/api/messages/${message.id}`, 'DELETE')
      return
    }
    const done = await api(`/api/messages/${message.id}/${act}`, 'POST')
    if (done.note) toast(done.note)
  })

// ---------- mailbox

let shownMail = ''

function renderMails() {
  const wanted = state.mailSearch
  const mails = sorted()
    .filter((message) => !isPhone(message))
    .toReversed()
  const shown =
    wanted === ''
      ? mails
      : mails.filter((mail) =>
          [mail.from, mail.to, mail.subject ?? '', mail.text].some((text) => includes(text, wanted)),
        )
  const list = byId('mails')
  if (shown.length === 0)
    list.replaceChildren(el('div', { class: 'empty-list' }, wanted ? 'Nothing found.' : 'No mail yet.'))
  else {
    list.querySelector('.empty-list')?.remove()
    reconcile(
      list,
      shown.map((mail) => ({
        key: mail.id,
        version: `${mail.status}|${mail.id === state.mail}`,
        data: mail,
      })),
      (mail) =>
        el(
          'button',
          {
            type: 'button',
            class: `row ${isUnread(mail) ? 'unread' : ''}`,
            role: 'listitem',
            'aria-current': mail.id === state.mail,
            onclick: () => go(`mail/${mail.id}`),
          },
          el('span', { class: `dot ${isUnread(mail) ? '' : 'off'}` }),
          el(
            'div',
            { class: 'body' },
            el(
              'div',
              { class: 'line' },
              el('b', {}, mail.email?.fromName ?? mail.from),
              el('time', {}, whenOf(mail.receivedAt)),
            ),
            el('p', { class: 'subject' }, mail.subject || '(no subject)'),
            el('p', {}, mail.text.replaceAll(/\s+/g, ' ').slice(0, 120)),
            el(
              'div',
              { class: 'tags' },
              el('span', { class: 'tag' }, `to ${mail.to}`),
              mail.email?.attachments.length > 0 &&
                el(
                  'span',
                  { class: 'tag' },
                  `${mail.email.attachments.length} file${mail.email.attachments.length > 1 ? 's' : ''}`,
                ),
              mail.status === 'failed' && el('span', { class: 'tag bad' }, 'bounced'),
            ),
          ),
        ),
    )
  }
  return mails
}

function renderMailbox() {
  const mails = renderMails()
  const mail = mails.find(({ id }) => id === state.mail)
  document.querySelector('[data-view="mail"]').classList.toggle('open', Boolean(mail))
  const version = mail ? `${mail.id}|${mail.status}|${state.mailTab}` : 'none'
  if (version === shownMail) return
  shownMail = version
  const reader = byId('reader')
  if (!mail) {
    const text =
      mails.length === 0
        ? `Send a mail to ${location.hostname}:${state.status?.smtp.port ?? '…'} and it shows up here. Any recipient is right.`
        : 'Choose a mail on the left.'
    reader.replaceChildren(el('div', { class: 'nothing' }, icon('mail'), el('p', {}, text)))
    return
  }
  void attempt(() => showMail(reader, mail))
}

async function showMail(reader, mail) {
  const whole = await api(`/api/messages/${mail.id}`)
  const tabs = [
    ['html', 'HTML', Boolean(whole.content?.html)],
    ['plain', 'Plain', Boolean(whole.content?.text)],
    ['source', 'Source', true],
    ['headers', 'Headers', true],
  ].filter(([, , isThere]) => isThere)
  const tab = tabs.find(([name]) => name === state.mailTab)?.[0] ?? tabs[0][0]
  const isTheirs = mail.direction === 'fromPerson'
  const letter = el('div', { class: 'letter' })
  const build = {
    html: () =>
      el('iframe', {
        src: `/mail/${mail.id}`,
        sandbox: 'allow-popups allow-popups-to-escape-sandbox',
        title: 'The mail as HTML',
        referrerpolicy: 'no-referrer',
      }),
    plain: () => el('pre', { class: 'plain' }, whole.content.text),
    source: async () => {
      const source = await (await fetch(`/api/messages/${mail.id}/raw`)).text()
      return el('pre', {}, source.slice(0, 500000))
    },
    headers: () => {
      const rows = whole.content.headers.map(({ name, value }) =>
        el('tr', {}, el('th', {}, name), el('td', {}, value)),
      )
      return el('table', {}, el('tbody', {}, rows))
    },
  }
  letter.append(await build[tab]())
  const act = (name, label, symbol, kind = '') =>
    el(
      'button',
      { type: 'button', class: `small ${kind}`, onclick: () => actOn(mail, name) },
      icon(symbol),
      label,
    )
  const files = mail.email?.attachments ?? []
  reader.replaceChildren(
    el(
      'div',
      { class: 'letter-head' },
      el(
        'div',
        { class: 'title' },
        el(
          'button',
          { type: 'button', class: 'quiet icon-only back', title: 'Back', onclick: () => go('mail') },
          icon('back'),
        ),
        el('h2', {}, mail.subject || '(no subject)'),
      ),
      el(
        'div',
        { class: 'envelope' },
        el('span', { class: 'avatar' }, initials(mail.email?.fromName ?? mail.from)),
        el(
          'div',
          {},
          el('b', {}, mail.email?.fromName ? `${mail.email.fromName} <${mail.from}>` : mail.from),
          el('small', {}, `to ${mail.to} · ${dayOf(mail.receivedAt)} ${timeOf(mail.receivedAt)}`),
        ),
        el(
          'span',
          { class: `tag ${mail.status === 'failed' ? 'bad' : mail.status === 'read' ? 'good' : ''}` },
          mail.status === 'failed' ? 'bounced' : mail.status,
        ),
        mail.email?.isSecure && el('span', { class: 'tag good' }, 'TLS'),
      ),
      el(
        'div',
        { class: 'acts' },
        !isTheirs && mail.status !== 'read' && mail.status !== 'failed' && act('read', 'Mark read', 'ticks'),
        !isTheirs && mail.status !== 'failed' && act('bounce', 'Bounce', 'reply'),
        mail.email?.unsubscribe?.isOneClick && act('unsubscribe', 'Unsubscribe', 'stop'),
        act('delete', 'Delete', 'bin', 'danger'),
      ),
      el(
        'div',
        { class: 'subtabs', role: 'tablist' },
        tabs.map(([name, label]) =>
          el(
            'button',
            {
              type: 'button',
              role: 'tab',
              'aria-selected': name === tab,
              onclick: () => {
                state.mailTab = name
                render()
              },
            },
            label,
          ),
        ),
      ),
    ),
    letter,
    files.length > 0 &&
      el(
        'div',
        { class: 'files' },
        files.map((file, index) =>
          el(
            'a',
            { href: `/api/messages/${mail.id}/attachments/${index}` },
            icon('file'),
            el('span', {}, file.filename),
            el('small', {}, sizeOf(file.size)),
          ),
        ),
      ),
  )
  for (const odd of [...reader.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE)) odd.remove()
}

// ---------- callbacks and chaos

const verdicts = {
  valid: ['good', 'signature valid'],
  invalid: ['bad', 'signature invalid'],
  stale: ['warn', 'too old'],
  unsigned: ['', 'not signed'],
}

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2)
  } catch {
    return text
  }
}

function typeOf(callback) {
  try {
    return JSON.parse(callback.body).type
  } catch {
    return undefined
  }
}

function renderCallbacks() {
  const sheet = byId('callbacks')
  const url = `${location.origin}/catch`
  const head = el(
    'div',
    { class: 'sheet-head' },
    el(
      'div',
      {},
      el('h2', {}, 'Callbacks'),
      el(
        'p',
        {},
        'POST to ',
        el('span', { class: 'mono' }, url),
        ' or any name below it. Signatures are checked by Standard Webhooks.',
      ),
    ),
    el(
      'button',
      {
        type: 'button',
        onclick: () =>
          attempt(async () => {
            await api('/api/callbacks', 'DELETE')
            state.callbacks = []
            render()
          }),
      },
      icon('bin'),
      'Clear',
    ),
  )
  if (state.callbacks.length === 0) {
    sheet.replaceChildren(head, el('div', { class: 'blank-sheet' }, 'No callback has come yet.'))
    return
  }
  if (!sheet.querySelector('.caught')) sheet.replaceChildren(head, el('div', { class: 'caught' }))
  reconcile(
    sheet.querySelector('.caught'),
    state.callbacks.map((callback) => ({ key: String(callback.sequence), version: '1', data: callback })),
    (callback) => {
      const [kind, words] = verdicts[callback.verdict]
      return el(
        'details',
        { class: 'callback' },
        el(
          'summary',
          {},
          el('b', {}, typeOf(callback) ?? `/${callback.name}`),
          el('span', { class: 'mono' }, callback.webhookId ?? ''),
          el('span', { class: `tag ${kind}` }, words),
          el('span', { class: 'tag' }, `answered ${callback.answered}`),
          el('small', {}, timeOf(callback.receivedAt)),
        ),
        el('pre', {}, pretty(callback.body)),
      )
    },
  )
}

function renderChaos() {
  if (!state.chaos) return
  const save = (change) =>
    attempt(async () => {
      state.chaos = await api('/api/chaos', 'PUT', change)
      toast('Dials set; the run starts over.')
    }).then(drawChaos)
  const reset = () => attempt(async () => (state.chaos = await api('/api/chaos', 'DELETE'))).then(drawChaos)
  function drawChaos() {
    byId('chaos').replaceChildren(...chaosSheet(state.chaos, { save, reset }))
    renderCounts()
  }
  if (byId('chaos').childElementCount === 0) drawChaos()
}

// ---------- frame

function renderCounts() {
  const all = sorted()
  const show = (name, count) => {
    const holder = document.querySelector(`[data-count="${name}"]`)
    holder.textContent = count > 999 ? '999+' : String(count)
    holder.hidden = count === 0
  }
  show('phone', all.filter((message) => isPhone(message) && isUnread(message)).length)
  show('mail', all.filter((message) => !isPhone(message) && isUnread(message)).length)
  show('callbacks', state.callbacks.length)
  show(
    'chaos',
    state.chaos ? ['whatsapp', 'sms', 'email'].filter((channel) => !isCalm(state.chaos[channel])).length : 0,
  )
}

function draw() {
  for (const view of document.querySelectorAll('[data-view]')) view.hidden = view.dataset.view !== state.view
  for (const tab of document.querySelectorAll('[data-tab]')) {
    if (tab.dataset.tab === state.view) tab.setAttribute('aria-current', 'page')
    else tab.removeAttribute('aria-current')
  }
  renderCounts()
  if (state.view === 'phone') renderPhone()
  if (state.view === 'mail') renderMailbox()
  if (state.view === 'callbacks') renderCallbacks()
  if (state.view === 'chaos') renderChaos()
}

let isDue = false
function render() {
  if (isDue) return
  isDue = true
  requestAnimationFrame(() => {
    isDue = false
    draw()
  })
}

function go(place) {
  location.hash = place
}

function readPlace() {
  const [view = 'phone', rest = ''] = location.hash.slice(1).split(/\/(.*)/s)
  state.view = ['phone', 'mail', 'callbacks', 'chaos'].includes(view) ? view : 'phone'
  if (state.view === 'phone') {
    const next = decodeURIComponent(rest)
    if (next !== state.conversation) state.selected = ''
    state.conversation = next
  }
  if (state.view === 'mail') state.mail = rest
  render()
}

async function load() {
  const [messages, callbacks, chaos, status] = await Promise.all([
    api('/api/messages?limit=1000'),
    api('/api/callbacks'),
    api('/api/chaos'),
    api('/api/status'),
  ])
  state.messages = new Map(messages.messages.map((message) => [message.id, message]))
  state.callbacks = callbacks.callbacks.slice(0, 500)
  state.chaos = chaos
  state.status = status
  // On a wide screen the newest conversation is open at once; a narrow one starts with the list.
  const newest = conversations()[0]
  if (state.view === 'phone' && !state.conversation && newest && matchMedia('(min-width: 821px)').matches)
    state.conversation = newest.key
  const mails = sorted().filter((message) => !isPhone(message))
  if (!state.mail && mails.length > 0 && matchMedia('(min-width: 821px)').matches)
    state.mail = mails.at(-1).id
  render()
}

function listen() {
  const live = byId('live')
  const show = (isOn) => {
    live.dataset.state = isOn ? 'on' : 'off'
    live.lastElementChild.textContent = isOn ? 'live' : 'not connected'
  }
  const events = new EventSource('/api/events')
  const on = (name, handle) =>
    events.addEventListener(name, (event) => {
      handle(JSON.parse(event.data))
      render()
    })
  events.addEventListener('open', () => {
    show(true)
    void attempt(load)
  })
  events.addEventListener('error', () => show(false))
  const keep = (message) => {
    state.messages.set(message.id, message)
    if (state.messages.size > maxMessages) state.messages.delete(state.messages.keys().next().value)
  }
  on('message', keep)
  on('status', keep)
  on('deleted', ({ ids }) => ids.forEach((id) => state.messages.delete(id)))
  on('callback', (callback) => {
    state.callbacks = [callback, ...state.callbacks].slice(0, 500)
  })
  on('refresh', () => void attempt(load))
}

function setTheme(theme) {
  document.documentElement.dataset.theme = theme
}

function prepare() {
  document.querySelectorAll('i[data-icon]').forEach(drawIcon)
  const system = matchMedia('(prefers-color-scheme: dark)')
  setTheme(localStorage.getItem('theme') ?? (system.matches ? 'dark' : 'light'))
  system.addEventListener(
    'change',
    () => localStorage.getItem('theme') ?? setTheme(system.matches ? 'dark' : 'light'),
  )
  byId('theme').addEventListener('click', () => {
    const next = document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark'
    localStorage.setItem('theme', next)
    setTheme(next)
  })
  byId('clear').addEventListener('click', () => {
    if (confirm('Delete all messages of the sandbox?')) void attempt(() => api('/api/messages', 'DELETE'))
  })
  byId('people-search').addEventListener('input', (event) => {
    state.peopleSearch = event.target.value
    render()
  })
  byId('mail-search').addEventListener('input', (event) => {
    state.mailSearch = event.target.value
    render()
  })
  byId('phone-back').addEventListener('click', () => go('phone'))
  byId('chat-read').addEventListener('click', () => {
    const current = conversations().find((item) => item.key === state.conversation)
    for (const message of current?.messages.filter(isUnread) ?? [])
      void attempt(() => api(`/api/messages/${message.id}/read`, 'POST'))
  })
  byId('composer').addEventListener('submit', (event) => {
    event.preventDefault()
    const input = byId('composer-text')
    const current = conversations().find((item) => item.key === state.conversation)
    const text = input.value.trim()
    if (!current || text === '') return
    input.value = ''
    void attempt(() => api(`/api/messages/${current.messages.at(-1).id}/reply`, 'POST', { text }))
  })
  prepareDialog()
  addEventListener('hashchange', readPlace)
}

function prepareDialog() {
  const dialog = byId('write-dialog')
  const form = byId('write-form')
  const showFields = () => {
    for (const part of form.querySelectorAll('[data-for]'))
      part.hidden = part.dataset.for !== form.elements.channel.value
  }
  form.addEventListener('change', showFields)
  byId('write').addEventListener('click', () => {
    const phones = state.status?.graph.phoneNumbers ?? []
    form.elements.phone.replaceChildren(
      ...phones.map((phone) => el('option', { value: phone.id }, `${phone.verifiedName} ${phone.number}`)),
    )
    form.elements.line.replaceChildren(
      ...(state.status?.smpp.accounts ?? []).map((account) => el('option', {}, account)),
    )
    showFields()
    dialog.showModal()
  })
  byId('write-cancel').addEventListener('click', () => dialog.close())
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    const { channel, from, phone, sender, line, text } = Object.fromEntries(new FormData(form))
    const answer =
      channel === 'sms'
        ? { channel, from, to: sender || '28000', line, text }
        : { channel, from, to: phone, text }
    void attempt(async () => {
      const { message } = await api('/api/answers', 'POST', answer)
      dialog.close()
      form.elements.text.value = ''
      state.messages.set(message.id, message)
      go(`phone/${encodeURIComponent(keyOf(message))}`)
    })
  })
}

prepare()
readPlace()
listen()
