/** The chaos sheet: one board a channel, every change sent at once. */
import { channelName, el, icon } from './view.js'

const codeHints = {
  whatsapp: 'such as 130429, 131016, 131049, 131056, 190',
  sms: 'command status in decimal, such as 88 (throttled), 20 (queue full), 8',
  email: 'reply codes such as 421, 450, 451, 550, 554',
}
const lateHints = { whatsapp: 'such as 131026, 131049', sms: 'message states 3, 4, 5, 7 or 8' }

const percent = (rate) => `${Math.round(rate * 100)} %`

export const isCalm = (dials) =>
  dials.latency.kind === 'none' &&
  dials.errors.length === 0 &&
  dials.lateErrors.length === 0 &&
  dials.throttlePerSecond === 0 &&
  dials.dropBeforeRate === 0 &&
  dials.dropAfterRate === 0 &&
  !dials.receipts.isNever &&
  dials.receipts.lostRate === 0 &&
  dials.receipts.lateRate === 0 &&
  dials.receipts.repeatedRate === 0 &&
  dials.receipts.outOfOrderRate === 0

function slider(name, value, onChange) {
  const output = el('output', {}, percent(value))
  const input = el('input', {
    type: 'range',
    min: 0,
    max: 100,
    value: Math.round(value * 100),
    'aria-label': name,
  })
  const holder = el(
    'label',
    { class: `slider ${value > 0 ? 'on' : ''}` },
    el('span', {}, name),
    output,
    input,
  )
  input.addEventListener('input', () => {
    output.textContent = `${input.value} %`
    holder.classList.toggle('on', input.value !== '0')
  })
  input.addEventListener('change', () => onChange(Number(input.value) / 100))
  return holder
}

function field(name, value, onChange, props = {}) {
  const input = el('input', { value, ...props })
  input.addEventListener('change', () => onChange(input.value))
  return el('label', { class: 'field' }, el('span', {}, name), input)
}

const number = (name, value, onChange, max = 60000) =>
  field(name, value, (text) => onChange(Math.max(0, Math.min(max, Number(text) || 0))), {
    type: 'number',
    min: 0,
    max,
  })

/** "130429:20, 131016:5" is 20 % and 5 %. */
const showErrors = (errors) => errors.map(({ code, rate }) => `${code}:${Math.round(rate * 100)}`).join(', ')
const readErrors = (text) =>
  text
    .split(/[,;\s]+/)
    .filter(Boolean)
    .map((part) => {
      const [code, rate = '100'] = part.split(':')
      return { code: Number(code), rate: Number(rate) / 100 }
    })

function latencyFields(latency, onChange) {
  const kinds = {
    none: 'None',
    fixed: 'Always the same',
    uniform: 'Between two values',
    normal: 'Around a mean',
    lognormal: 'Long tail, like a network',
  }
  const starts = {
    none: {},
    fixed: { ms: 500 },
    uniform: { minMs: 50, maxMs: 1500 },
    normal: { meanMs: 300, deviationMs: 100 },
    lognormal: { medianMs: 150, sigma: 1 },
  }
  const select = el(
    'select',
    {},
    Object.entries(kinds).map(([kind, name]) =>
      el('option', { value: kind, selected: kind === latency.kind }, name),
    ),
  )
  select.addEventListener('change', () => onChange({ kind: select.value, ...starts[select.value] }))
  const names = {
    ms: 'Milliseconds',
    minMs: 'From (ms)',
    maxMs: 'To (ms)',
    meanMs: 'Mean (ms)',
    deviationMs: 'Deviation (ms)',
    medianMs: 'Median (ms)',
    sigma: 'Spread (0 to 3)',
  }
  const own = Object.keys(latency).filter((key) => key !== 'kind')
  return [
    el('label', { class: 'field' }, el('span', {}, 'Latency'), select),
    own.length > 0 &&
      el(
        'div',
        { class: own.length > 1 ? 'pair' : '' },
        own.map((key) =>
          field(names[key], latency[key], (text) => onChange({ ...latency, [key]: Number(text) || 0 }), {
            type: 'number',
            min: 0,
            step: key === 'sigma' ? '0.1' : '1',
          }),
        ),
      ),
  ]
}

function board(channel, dials, change) {
  const receipts = (part) => change({ receipts: part })
  const never = el('input', { type: 'checkbox', checked: dials.receipts.isNever })
  never.addEventListener('change', () => receipts({ isNever: never.checked }))
  return el(
    'div',
    { class: 'board' },
    el(
      'header',
      {},
      el('h2', {}, channelName[channel]),
      isCalm(dials)
        ? el('span', { class: 'tag good' }, 'calm')
        : el('span', { class: 'tag warn' }, 'troubled'),
    ),
    latencyFields(dials.latency, (latency) => change({ latency })),
    el('h3', {}, 'Hand-over'),
    slider('Connection lost before', dials.dropBeforeRate, (dropBeforeRate) => change({ dropBeforeRate })),
    slider('Connection lost after', dials.dropAfterRate, (dropAfterRate) => change({ dropAfterRate })),
    field(
      'Refused with code:percent',
      showErrors(dials.errors),
      (text) => change({ errors: readErrors(text) }),
      { placeholder: codeHints[channel] },
    ),
    number(
      'At most this many a second (0 is no limit)',
      dials.throttlePerSecond,
      (throttlePerSecond) => change({ throttlePerSecond }),
      1000000,
    ),
    channel !== 'email' && [
      el('h3', {}, 'Receipts'),
      field(
        'Fail later with code:percent',
        showErrors(dials.lateErrors),
        (text) => change({ lateErrors: readErrors(text) }),
        { placeholder: lateHints[channel] },
      ),
      slider('Lost', dials.receipts.lostRate, (lostRate) => receipts({ lostRate })),
      slider('Late', dials.receipts.lateRate, (lateRate) => receipts({ lateRate })),
      slider('Repeated', dials.receipts.repeatedRate, (repeatedRate) => receipts({ repeatedRate })),
      slider('Out of order', dials.receipts.outOfOrderRate, (outOfOrderRate) => receipts({ outOfOrderRate })),
      el(
        'div',
        { class: 'pair' },
        number('Usual delay (ms)', dials.receipts.delayMs, (delayMs) => receipts({ delayMs })),
        number('Late means (ms)', dials.receipts.lateByMs, (lateByMs) => receipts({ lateByMs })),
      ),
      el('label', { class: 'check' }, never, el('span', {}, 'Never send a receipt')),
    ],
  )
}

export function chaosSheet(settings, { save, reset }) {
  return [
    el(
      'div',
      { class: 'sheet-head' },
      el(
        'div',
        {},
        el('h2', {}, 'Chaos'),
        el('p', {}, 'Trouble on purpose. The same seed and the same messages give the same trouble again.'),
      ),
      field('Seed', settings.seed, (text) => save({ seed: Math.trunc(Number(text)) || 0 }), {
        type: 'number',
      }),
      el('button', { type: 'button', onclick: reset }, icon('stop'), 'Calm everything'),
    ),
    el(
      'div',
      { class: 'boards' },
      ['whatsapp', 'sms', 'email'].map((channel) =>
        board(channel, settings[channel], (part) => save({ [channel]: part })),
      ),
    ),
  ]
}
