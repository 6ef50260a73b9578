/** Callbacks that were caught, with the verdict on their signature. */
import { api, attempt, byId, render, state } from './state.js'
import { el, icon, reconcile, timeOf } from './view.js'

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

export function renderCallbacks() {
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
