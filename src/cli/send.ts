import { setTimeout as wait } from 'node:timers/promises'
import { channels } from '../domain/channel.ts'
import type { Outcome, Place } from '../domain/outcome.ts'
import {
  isFinal,
  isGood,
  sendAsOperator,
  SendRefused,
  type OperatorMessage,
} from '../flows/send-as-operator.ts'
import { systemClock } from '../lib/clock.ts'
import { showId } from '../lib/ids.ts'
import { silentLog } from '../lib/log.ts'
import { recordAudit } from '../store/audit.ts'
import type { Db } from '../store/db.ts'
import { lineAddress, listLines } from '../store/lines.ts'
import { otherPombos } from '../store/other-pombos.ts'
import type { Timeline } from '../store/timeline.ts'
import { CommandError, UsageError, type Command, type Given } from './command.ts'
import { printJson, printThing, type Io } from './io.ts'
import { findTimeline, printEvent, showTimeline } from './message.ts'
import { actorName, readOneOf, readWholeNumber, withCompany } from './nouns.ts'

const lookEveryMs = 250
const usualPatienceSeconds = 60

export const send: Command = {
  summary: 'Send one message, as an operator.',
  detail: [
    'It takes the same road as one of the APIs: rules, rendering, queue, delivery by a running Pombo.',
    'The exit code is 0 when it was accepted, and with --wait when it was sent and, where the channel tells, delivered.',
  ].join('\n'),
  arguments: ['COMPANY'],
  options: {
    channel: { type: 'string', describe: `One of ${channels.join(', ')}.`, value: 'CHANNEL' },
    to: { type: 'string', describe: 'Number with country code, or e-mail address.', value: 'ADDRESS' },
    template: { type: 'string', describe: 'A template by its name.', value: 'NAME' },
    'template-code': { type: 'string', describe: 'A template by its code.', value: 'CODE' },
    var: { type: 'string', isMultiple: true, describe: "A template's variable.", value: 'NAME=VALUE' },
    text: { type: 'string', describe: 'Free text instead of a template; - reads the standard input.' },
    subject: { type: 'string', describe: 'Of an e-mail without a template.' },
    file: { type: 'string', isMultiple: true, describe: 'A file to send along.', value: 'PATH' },
    from: {
      type: 'string',
      describe: 'Number or address of the line; default: the default line.',
      value: 'ADDRESS',
    },
    segment: { type: 'string', describe: 'Segment by its name.', value: 'NAME' },
    'dry-run': { type: 'boolean', describe: 'Check everything and send nothing.' },
    wait: { type: 'boolean', describe: 'Follow what becomes of it.' },
    timeout: {
      type: 'string',
      describe: `With --wait: give up after so many seconds; default ${usualPatienceSeconds}.`,
      value: 'N',
    },
  },
  async run(given, io) {
    const patienceMs = (readWholeNumber('timeout', given.text('timeout')) ?? usualPatienceSeconds) * 1000
    const wish = await readWish(given, io)
    return withCompany(given.arguments[0], async (company, { db }) => {
      const line = await chooseLine(db, company.id, wish, given.text('from'))
      const outcome = await accept(db, company.id, { ...wish, line })
      const messageId = acceptedId(outcome)
      if (messageId === null) {
        printThing(io, given.isJson, { isDryRun: true, outcome: outcome.kind })
        return 0
      }
      const nounId = showId('msg', messageId)
      await recordAudit(db, {
        companyId: company.id,
        actor: actorName(),
        action: 'send',
        noun: 'message',
        nounId,
      })
      if (!given.isSet('wait')) {
        printThing(io, given.isJson, {
          id: nounId,
          state: outcome.kind === 'not_sent' ? 'not_sent' : 'queued',
        })
        return outcome.kind === 'accepted' ? 0 : 1
      }
      return follow(given, io, db, messageId, patienceMs)
    })
  },
}

async function readWish(given: Given, io: Io): Promise<Omit<OperatorMessage, 'line'>> {
  const channel = readOneOf('--channel', given.text('channel'), channels)
  const to = given.text('to')
  if (to === undefined)
    throw new UsageError('--to is missing: a number with country code, or an e-mail address.')
  const [name, code, text] = [given.text('template'), given.text('template-code'), given.text('text')]
  if ([name, code, text].filter((one) => one !== undefined).length > 1)
    throw new UsageError('Only one of --template, --template-code and --text can be given.')
  const variables = given.texts('var').map((pair) => {
    const at = pair.indexOf('=')
    if (at < 1) throw new UsageError(`--var is "${pair}", but must look like NAME=VALUE.`)
    return { name: pair.slice(0, at), value: pair.slice(at + 1) }
  })
  if (variables.length > 0 && name === undefined && code === undefined)
    throw new UsageError('--var needs --template or --template-code.')
  return {
    channel,
    to,
    template:
      name === undefined
        ? code === undefined
          ? undefined
          : { by: 'code', name: code }
        : { by: 'name', name },
    variables,
    text: text === '-' ? (await io.readInput()).replace(/\r?\n$/, '') : text,
    subject: given.text('subject'),
    files: given.texts('file'),
    segmentName: given.text('segment'),
    isDryRun: given.isSet('dry-run'),
  }
}

async function chooseLine(
  db: Db,
  companyId: string,
  { channel }: Pick<OperatorMessage, 'channel'>,
  from: string | undefined,
): Promise<OperatorMessage['line']> {
  if (from === undefined) return { kind: 'default', mayFailOver: true }
  const wanted = from.trim().toLowerCase().replace(/^\+/, '')
  const lines = await listLines(db, companyId)
  const line = lines.find((one) => one.channel === channel && lineAddress(one).toLowerCase() === wanted)
  if (line === undefined)
    throw new CommandError(`There is no ${channel} line ${from}: see "pombo line list".`)
  return { kind: 'line', id: line.id }
}

async function accept(db: Db, companyId: string, wish: OperatorMessage): Promise<Outcome> {
  try {
    return await sendAsOperator({ db, clock: systemClock, log: silentLog }, companyId, wish)
  } catch (error) {
    if (error instanceof SendRefused) throw new CommandError(`--${error.option} ${error.message}.`)
    throw error
  }
}

/** Null for a dry run that would have been accepted; everything else is a sentence. */
function acceptedId(outcome: Outcome): string | null {
  switch (outcome.kind) {
    case 'accepted':
    case 'not_sent':
      return outcome.messageId
    case 'refused': {
      const reasons = outcome.verdicts
        .filter(({ passed }) => !passed)
        .map(({ reason, rule }) => reason ?? rule)
      throw new CommandError(`Not sent: ${reasons.join('; ')}.`)
    }
    case 'invalid':
      throw new CommandError(
        outcome.problems.map(({ at, message }) => `${optionOf(at)} ${message}.`).join('\n'),
      )
    case 'suspended':
      throw new CommandError('Not sent: the company is suspended.')
    case 'unauthorized':
    case 'unproven':
    case 'key_reused':
    case 'unavailable':
    case 'failed':
      throw new CommandError('It could not be accepted now: try again in a moment.')
  }
}

function optionOf(at: Place): string {
  if (at.startsWith('variables.')) return `--var ${at.slice('variables.'.length)}:`
  if (at.startsWith('files')) return '--file:'
  const known: Partial<Record<Place, string>> = {
    template: '--template:',
    variables: '--var:',
    line: '--from:',
    segment: '--segment:',
    text: '--text:',
    subject: '--subject:',
    what: '--template:',
  }
  return known[at] ?? `${at}:`
}

/** Prints what happens as it happens; JSON comes whole at the end. */
async function follow(given: Given, io: Io, db: Db, id: string, patienceMs: number): Promise<number> {
  const giveUpAt = performance.now() + patienceMs
  const isWorking = (await otherPombos(db, 'pombo command')).some(
    (name) => name.includes('worker') || name.endsWith(' all'),
  )
  if (!isWorking) io.err('No Pombo works on this database now: the message waits until one is started.')
  if (!given.isJson) io.out(showId('msg', id))
  let shown = 0
  for (;;) {
    const timeline = await findTimeline(db, id)
    if (timeline === undefined) throw new CommandError('The message is gone.')
    if (!given.isJson) for (const event of timeline.events.slice(shown)) printEvent(io, event)
    shown = timeline.events.length
    if (isFinal(timeline.channel, timeline.state)) return finish(given, io, timeline, 'final')
    if (performance.now() >= giveUpAt) return finish(given, io, timeline, 'patience')
    await wait(lookEveryMs)
  }
}

function finish(given: Given, io: Io, timeline: Timeline, why: 'final' | 'patience'): number {
  if (given.isJson) printJson(io, showTimeline(timeline))
  else io.out(timeline.state)
  if (why === 'patience')
    io.err(`It is still ${timeline.state}: "pombo message ${showId('msg', timeline.id)}" shows what comes.`)
  return why === 'final' && isGood(timeline.state) ? 0 : 1
}
