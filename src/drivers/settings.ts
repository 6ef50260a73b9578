/** A line's settings: one flat object that a driver's schema describes, checked where it is saved and where it is used. */
import type { Static, TObject } from 'typebox'
import { Value } from 'typebox/value'

export type SettingsReading<T> = { ok: true; settings: T } | { ok: false; field: string; reason: string }

/** Fills in defaults and checks. A field that is not known is an error: it is a misspelt one. */
export function checkSettings<S extends TObject>(schema: S, given: unknown): SettingsReading<Static<S>> {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    return { ok: false, field: '', reason: 'must be an object' }
  }
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(schema.properties, name))
  if (unknown !== undefined) return { ok: false, field: unknown, reason: 'is not a setting of this driver' }
  const settings: unknown = Value.Default(schema, structuredClone(given))
  if (Value.Check(schema, settings)) return { ok: true, settings }
  const [first] = Value.Errors(schema, settings)
  if (first?.keyword === 'required')
    return { ok: false, field: first.params.requiredProperties[0]!, reason: 'is required' }
  const field = (first?.instancePath ?? '').slice(1).replaceAll('/', '.')
  // A check over several settings names the one at fault by the first word of its message.
  if (first?.keyword === '~refine' && field === '') {
    const [named = '', ...reason] = first.message.split(' ')
    return { ok: false, field: named, reason: reason.join(' ') }
  }
  return { ok: false, field, reason: first?.message ?? 'is not valid' }
}

/** For settings that were checked when they were saved. */
export function readSettings<S extends TObject>(schema: S, given: unknown): Static<S> {
  const reading = checkSettings(schema, given)
  if (!reading.ok) throw new Error(`The line's setting ${reading.field} ${reading.reason}.`)
  return reading.settings
}

/** Names of the settings that are sealed, redacted and masked. */
export const secretSettings = (schema: TObject): string[] =>
  Object.entries(schema.properties)
    .filter(([, property]) => 'isSecret' in property && property.isSecret === true)
    .map(([name]) => name)
