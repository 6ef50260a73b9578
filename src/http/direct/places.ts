import type { Place } from '../../domain/outcome.ts'

type NamedPlace = Exclude<Place, `variables.${string}` | `files[${number}]`>

/** Where a route takes what fills the template. */
export type VariableFields = { all: string; one: string; headerName: string; headerValue: string }

/** A place in a request, in our words, to the field of a route. */
export function fieldOf(place: Place, fields: VariableFields): string {
  if (place.startsWith('variables.')) return `${fields.one}.${place.slice('variables.'.length)}`
  if (place.startsWith('files')) return fields.headerValue
  return fieldsOf(fields)[place as NamedPlace]
}

const fieldsOf = ({ all, headerName, headerValue }: VariableFields): Record<NamedPlace, string> => ({
  template: 'template_code',
  what: 'template_code',
  segment: 'segment',
  wallet: 'segment',
  line: 'whatsapp_sender_number',
  variables: all,
  // The template is the company's own: what does not fit once it is filled came with the values.
  text: all,
  subject: all,
  header: headerName,
  'header.value': headerValue,
  // A media header without its file: here the file is the header's value.
  files: headerValue,
  idempotencyKey: 'Idempotency-Key',
  // These are not part of this API.
  attendant: 'body',
  company: 'body',
})

export const variableValueFields: VariableFields = {
  all: 'variable_values',
  one: 'variable_values',
  headerName: 'variable_values',
  headerValue: 'variable_values',
}
