import { readConfig } from '../config.ts'
import { showId } from '../lib/ids.ts'
import type { Queryable } from '../store/db.ts'
import { findMessageOwner, readTimeline, type Timeline, type TimelineEvent } from '../store/timeline.ts'
import { CommandError, type Command } from './command.ts'
import { withDatabase } from './database.ts'
import { bold, dim, printJson, printable, printThing, type Io } from './io.ts'
import { readId } from './nouns.ts'

export const message: Command = {
  summary: 'Show a message and everything that happened to it.',
  arguments: ['ID'],
  async run(given, io) {
    const id = readId('msg', given.arguments[0])
    await withDatabase(readConfig(), async ({ db }) => {
      const found = await findTimeline(db, id)
      if (found === undefined) throw new CommandError(`There is no message ${given.arguments[0]}.`)
      if (given.isJson) return printJson(io, showTimeline(found))
      printMessage(io, found)
      for (const event of found.events) printEvent(io, event)
    })
  },
}

export async function findTimeline(db: Queryable, id: string): Promise<Timeline | undefined> {
  const companyId = await findMessageOwner(db, id)
  return companyId === undefined ? undefined : readTimeline(db, companyId, id)
}

export const showTimeline = (timeline: Timeline) => ({ ...timeline, id: showId('msg', timeline.id) })

export function printMessage(io: Io, timeline: Timeline): void {
  const { id, channel, recipient, state, error, waiting, acceptedAt, settledAt } = timeline
  printThing(io, false, {
    id: showId('msg', id),
    channel,
    recipient,
    state,
    ...(error && { error: [error.code, error.message].filter(Boolean).join(': ') }),
    ...(waiting && { waits: `${waiting.reason}, until ${waiting.dueAt.toISOString()}` }),
    acceptedAt,
    settledAt,
  })
}

/** One line, and below it what the provider said. */
export function printEvent(io: Io, { at, kind, detail }: TimelineEvent): void {
  const { exchange, ...rest } = detail
  const facts = Object.entries(rest)
    .filter(([, value]) => value !== null && value !== undefined)
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
  io.out(`${at.toISOString()}  ${bold(io, kind)}  ${printable(facts.join(' '))}`.trimEnd())
  if (typeof exchange !== 'object' || exchange === null) return
  for (const [side, text] of Object.entries(exchange))
    for (const line of String(text).split(/\r?\n/).slice(0, 40))
      io.out(dim(io, `    ${side}: ${printable(line)}`))
}
