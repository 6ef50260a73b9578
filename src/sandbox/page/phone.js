/** The phone: people on the left, the conversation in the middle, the facts of a message on the right. */
import {
  actOn,
  api,
  attempt,
  byId,
  conversations,
  go,
  includes,
  isUnread,
  render,
  sorted,
  state,
  toast,
} from './state.js'
import { bubble, channelName, dayOf, el, factsPanel, icon, initials, reconcile, whenOf } from './view.js'

const businessName = (conversation) =>
  state.status?.graph.phoneNumbers.find((phone) => phone.number === conversation.business)?.verifiedName ??
  conversation.business

function snippet(message) {
  const media = message.whatsapp?.media
  // Lists show words only, without WhatsApp's marks.
  const plain = message.channel === 'whatsapp' ? message.text.replaceAll(/[*_~`]/g, '') : message.text
  const text =
    plain || (media ? `[${media.kind}]` : '') || (message.whatsapp?.cards.length ? '[carousel]' : '')
  return (message.direction === 'fromPerson' ? 'You: ' : '') + text.replaceAll(/\s+/g, ' ').slice(0, 120)
}

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

/** Pictures get their height when they have loaded; until then the end moves away. */
function stayAtEnd(chat) {
  const toEnd = () => {
    chat.scrollTop = chat.scrollHeight
  }
  toEnd()
  for (const picture of chat.querySelectorAll('img')) {
    if (!picture.complete) picture.addEventListener('load', toEnd, { once: true })
  }
}

export function renderPhone() {
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
  byId('chat-sub').textContent = `on ${current.person}`
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
  const last = current.messages.at(-1)
  const isJustWritten = last.direction === 'fromPerson' && chat.dataset.last !== last.id
  chat.dataset.last = last.id
  if (isAtEnd || isJustWritten) stayAtEnd(chat)

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
