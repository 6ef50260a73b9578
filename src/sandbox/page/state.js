/** What the page knows and how it asks: messages by id, the API, and who talks with whom. */
export const byId = (id) => document.getElementById(id)
export const maxMessages = 2000

export const state = {
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

export async function api(path, method = 'GET', body) {
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
export function toast(text, isBad = false) {
  const holder = byId('toast')
  holder.textContent = text
  holder.classList.toggle('bad', isBad)
  holder.hidden = false
  clearTimeout(toastTimer)
  toastTimer = setTimeout(() => (holder.hidden = true), 4000)
}

export async function attempt(work) {
  try {
    return await work()
  } catch (fault) {
    toast(fault.message, true)
    return undefined
  }
}

export const isPhone = (message) => message.channel !== 'email'
export const personOf = (message) => (message.direction === 'toPerson' ? message.to : message.from)
export const businessOf = (message) => (message.direction === 'toPerson' ? message.from : message.to)
export const keyOf = (message) => `${message.channel}|${personOf(message)}|${businessOf(message)}`
export const isUnread = (message) =>
  message.direction === 'toPerson' && message.status !== 'read' && message.status !== 'failed'
export const sorted = () => [...state.messages.values()].toSorted((a, b) => a.sequence - b.sequence)

export function conversations() {
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

export const includes = (text, wanted) => text.toLowerCase().includes(wanted.toLowerCase())

export const actOn = (message, act) =>
  attempt(async () => {
    if (act === 'delete') {
      await api(`/api/messages/${message.id}`, 'DELETE')
      return
    }
    const done = await api(`/api/messages/${message.id}/${act}`, 'POST')
    if (done.note) toast(done.note)
  })

export function go(place) {
  location.hash = place
}

let draw = () => {}
let isDue = false

/** The parts of the page say that something changed; the frame draws once for all of them. */
export function render() {
  if (isDue) return
  isDue = true
  requestAnimationFrame(() => {
    isDue = false
    draw()
  })
}

export function onRender(drawer) {
  draw = drawer
}
