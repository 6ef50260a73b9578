/**
 * One statement in several shapes: what a batch has none of is left out of the text. PostgreSQL prepares every part of
 * a plan before it finds that there is nothing to do for it (a batch of one message: 0.5 of 1 ms).
 */
import type { Statement } from './db.ts'

/** `$1::uuid[]`, then `$2::text`, and so on: in the order in which the text asks for them. */
export type Parameter = (type: string) => string

export const countParameters = (): Parameter => {
  let count = 0
  return (type) => `$${++count}::${type}`
}

/** Each shape is written once, and prepared on a connection when it is first used there. */
export function createStatements<Parts extends Record<string, boolean>>(
  name: string,
  write: (parts: Parts, parameter: Parameter) => string,
): (parts: Parts) => Statement {
  const known = new Map<string, Statement>()
  return (parts) => {
    let shape = ''
    for (const part in parts) shape += parts[part] ? '1' : '0'
    let statement = known.get(shape)
    if (statement === undefined) {
      statement = { name: `${name}_${shape}`, text: write(parts, countParameters()) }
      known.set(shape, statement)
    }
    return statement
  }
}
