/**
 * Statements that are asked in the same breath travel together: one write, one Sync, one answer, as the driver's
 * `Submittable`. What a prepared statement answers is described once per connection. (With a write, a Sync and a
 * description for every statement, 5 % fewer messages were accepted.)
 *
 * A trip succeeds or fails as a whole: what follows a failed statement is not run, and what went before it is undone,
 * at once or by the caller's ROLLBACK.
 */
import type pg from 'pg'

/** A statement that is prepared once per connection under its name. */
export type Statement = { name: string; text: string }

export type Row = Record<string, unknown>

type Field = { name: string; dataTypeID: number }
type Parse = (text: string) => unknown
/** How the rows of a statement are read; undefined: it has none. */
type Shape = { names: string[]; parsers: Parse[]; empty: Row } | undefined

export type ParserOf = (dataTypeId: number) => Parse

/** By the name of a statement, for those that were answered on this connection before. */
export type Shapes = Map<string, Shape>

export type Asked = {
  statement: Statement
  /** As they are written: texts, bytes or null. */
  values: readonly unknown[]
  resolve(rows: Row[]): void
  reject(error: Error): void
}

/** The part of the driver's connection that writes messages; it keeps by itself what has been prepared. */
type Wire = {
  stream: { cork(): void; uncork(): void }
  parsedStatements: Record<string, string | undefined>
  parse(query: { name: string; text: string }): void
  bind(config: { statement: string; values: readonly unknown[] }): void
  describe(what: { type: 'P'; name: string }): void
  execute(): void
  sync(): void
}

export class RoundTrip implements pg.Submittable {
  readonly #asked: Asked[]
  readonly #shapes: Shapes
  readonly #parserOf: ParserOf
  readonly #answers: Row[][] = []
  /** Of the statement that is being answered. */
  #shape: Shape
  #rows: Row[] = []

  readonly #ended: () => void

  constructor(asked: Asked[], shapes: Shapes, parserOf: ParserOf, ended: () => void) {
    this.#asked = asked
    this.#shapes = shapes
    this.#parserOf = parserOf
    this.#ended = ended
  }

  submit(connection: pg.Connection): void {
    const wire = connection as unknown as Wire
    const sent = new Set<string>()
    wire.stream.cork()
    for (const { statement, values } of this.#asked) {
      const { name, text } = statement
      if (wire.parsedStatements[name] === undefined && !sent.has(name)) wire.parse({ name, text })
      if (name !== '') sent.add(name)
      wire.bind({ statement: name, values })
      if (!this.#shapes.has(name)) wire.describe({ type: 'P', name: '' })
      wire.execute()
    }
    wire.sync()
    wire.stream.uncork()
    this.#begin()
  }

  /** The driver asks for both when a statement has been prepared: the one whose answer comes. */
  get name(): string | undefined {
    return this.#asked[this.#answers.length]?.statement.name
  }
  get text(): string | undefined {
    return this.#asked[this.#answers.length]?.statement.text
  }

  #begin(): void {
    this.#shape = this.#shapes.get(this.name ?? '')
    this.#rows = []
  }

  handleRowDescription({ fields }: { fields: Field[] }): void {
    const names = fields.map(({ name }) => name)
    this.#shape = {
      names,
      parsers: fields.map(({ dataTypeID }) => this.#parserOf(dataTypeID)),
      empty: Object.fromEntries(names.map((name) => [name, null])),
    }
  }

  handleDataRow({ fields }: { fields: (string | null)[] }): void {
    const { names, parsers, empty } = this.#shape!
    const row = { ...empty }
    for (let index = 0; index < fields.length; index++) {
      const text = fields[index]!
      if (text !== null) row[names[index]!] = parsers[index]!(text)
    }
    this.#rows.push(row)
  }

  handleCommandComplete(): void {
    const { name } = this
    if (name) this.#shapes.set(name, this.#shape)
    this.#answers.push(this.#rows)
    this.#begin()
  }

  handleEmptyQuery(): void {
    this.handleCommandComplete()
  }

  /** Not before: a statement outside of a transaction is committed by the Sync behind it. */
  handleReadyForQuery(): void {
    this.#ended()
    for (const [index, { resolve }] of this.#asked.entries()) resolve(this.#answers[index]!)
  }

  handleError(error: Error): void {
    this.#ended()
    for (const { reject } of this.#asked) reject(error)
  }
}
