/** The frame of the page: the place in the hash, live events, the theme, and which part is drawn. */
import { renderCallbacks } from './callbacks.js'
import { chaosSheet, isCalm } from './chaos.js'
import { renderMailbox } from './mailbox.js'
import { renderPhone } from './phone.js'
import {
  api,
  attempt,
  byId,
  conversations,
  go,
  isPhone,
  isUnread,
  keyOf,
  maxMessages,
  onRender,
  render,
  sorted,
  state,
  toast,
} from './state.js'
import { drawIcon, el } from './view.js'

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

onRender(draw)
prepare()
readPlace()
listen()
