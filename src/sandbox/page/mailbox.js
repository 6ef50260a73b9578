/** The mailbox: HTML in a frame of its own, plain text, source, headers and attachments. */
import { actOn, api, attempt, byId, go, includes, isPhone, isUnread, render, sorted, state } from './state.js'
import { dayOf, el, icon, initials, reconcile, sizeOf, timeOf, whenOf } from './view.js'

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

export function renderMailbox() {
  const mails = renderMails()
  const mail = mails.find(({ id }) => id === state.mail)
  document.querySelector('[data-view="mail"]').classList.toggle('open', Boolean(mail))
  const version = mail
    ? `${mail.id}|${mail.status}|${state.mailTab}`
    : `none|${mails.length}|${state.status?.smtp.port}`
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
