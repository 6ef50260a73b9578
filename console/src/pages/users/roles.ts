import type { ItemOf } from '../../api.ts'
import { text } from '../../text/index.ts'

export type UserRole = ItemOf<'GET /users'>['role']

export const roles = Object.keys(text.users.roleNames) as UserRole[]
export const roleOptions = roles.map((value) => ({ value, label: text.users.roleNames[value] }))

/** 20 characters without those that are taken for others: 115 bits. */
export function suggestPassword(): string {
  const letters = 'abcdefghjkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789'
  const draws = crypto.getRandomValues(new Uint32Array(20))
  return [...draws].map((draw) => letters[draw % letters.length]).join('')
}
