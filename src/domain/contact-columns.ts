/** The columns of a file of contacts, and the words by which its first line may name them. */
export const contactColumns = [
  'phone',
  'email',
  'name',
  'tax_id',
  'custom_code',
  'tag',
  'segment',
  'opted_out',
  'joker1',
  'joker2',
  'joker3',
  'joker4',
  'joker5',
] as const
export type ContactColumn = (typeof contactColumns)[number]

const names = new Map<string, ContactColumn>([
  ...contactColumns.map((column) => [column, column] as const),
  ['phone_number', 'phone'],
  ['e-mail', 'email'],
  ['id', 'tax_id'],
  ['document', 'tax_id'],
  ['customcode', 'custom_code'],
  ['wallet', 'segment'],
])

/** Undefined: a column that is not read. */
export const columnNamed = (header: string): ContactColumn | undefined =>
  names.get(header.trim().toLowerCase())
