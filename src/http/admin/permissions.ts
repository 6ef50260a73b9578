/**
 * Who may call what: one table, one line per route. A route without a line does not start, and a test compares both.
 * A key counts as an administrator with the scope `manage` and as a viewer with `read`.
 */
import type { Caller, ConsoleRole } from './caller.ts'

export type Permission = {
  roles: readonly ConsoleRole[]
  /** Also for keys that may read their own messages alone. */
  isForOwnMessages?: true
  /** About the person who is signed in: never for keys. */
  isPersonal?: true
}

const administrators: Permission = { roles: ['administrator'] }
const supervisors: Permission = { roles: ['administrator', 'supervisor'] }
const attendants: Permission = { roles: ['administrator', 'supervisor', 'attendant'] }
/** Reads, but is no attendant: attendants see people and their messages, not how the company is doing. */
const viewers: Permission = { roles: ['administrator', 'supervisor', 'viewer'] }
const everybody: Permission = { roles: ['administrator', 'supervisor', 'attendant', 'viewer'] }
const oneself: Permission = { ...everybody, isPersonal: true }

export const permissions: Readonly<Record<string, Permission>> = {
  'GET /session': { ...everybody, isForOwnMessages: true },

  'POST /account/password': oneself,
  'GET /account/totp': oneself,
  'POST /account/totp': oneself,
  'PUT /account/totp': oneself,
  'POST /account/totp/remove': oneself,
  'POST /account/recovery-codes': oneself,
  'GET /account/sessions': oneself,
  'DELETE /account/sessions/:id': oneself,

  'GET /company': everybody,
  'PATCH /company': administrators,
  'GET /company/stop-words': viewers,
  'PUT /company/stop-words': supervisors,
  'POST /company/private-token/show': administrators,
  'POST /company/private-token/rotate': administrators,
  'POST /company/callback-secret/show': administrators,
  'POST /company/callback-secret/rotate': administrators,
  'GET /company/webhook': administrators,
  'PUT /company/webhook': administrators,
  'DELETE /company/webhook': administrators,
  'POST /company/webhook/secret/show': administrators,
  'POST /company/webhook/secret/rotate': administrators,

  'GET /users': everybody,
  'GET /users/:id': everybody,
  'GET /users/:id/access': administrators,
  'POST /users': administrators,
  'PATCH /users/:id': administrators,
  'POST /users/:id/password': administrators,
  'DELETE /users/:id/totp': administrators,
  'DELETE /users/:id/sessions': administrators,
  'DELETE /users/:id/token': administrators,

  'GET /segments': everybody,
  'GET /segments/:id': everybody,
  'POST /segments': supervisors,
  'PATCH /segments/:id': supervisors,
  'DELETE /segments/:id': supervisors,

  'GET /drivers': administrators,
  'GET /lines': everybody,
  'GET /lines/:id': everybody,
  'POST /lines': administrators,
  'PATCH /lines/:id': administrators,
  'DELETE /lines/:id': administrators,
  'POST /lines/:id/pause': supervisors,
  'POST /lines/:id/resume': supervisors,
  'POST /lines/:id/default': administrators,
  'POST /lines/:id/test': administrators,

  'GET /templates': everybody,
  'GET /templates/:id': everybody,
  'POST /templates/preview': everybody,
  'POST /templates': supervisors,
  'POST /templates/refresh': supervisors,
  'POST /templates/:id/submit': supervisors,
  'POST /templates/:id/test': supervisors,
  'PUT /templates/:id': supervisors,
  'PATCH /templates/:id': supervisors,
  'DELETE /templates/:id': supervisors,

  'GET /media': everybody,
  'GET /media/:id': everybody,
  'POST /media': supervisors,
  'DELETE /media/:id': supervisors,

  'GET /contacts': everybody,
  'GET /contacts/:id': everybody,
  'GET /contacts/:id/conversation': everybody,
  'POST /contacts': attendants,
  'PATCH /contacts/:id': attendants,
  'POST /contacts/:id/clear-bounce': supervisors,
  'POST /contacts/:id/export': supervisors,
  'DELETE /contacts/:id': supervisors,
  'POST /contacts/:id/messages': attendants,
  'POST /contacts/import': supervisors,

  'GET /attendances': everybody,
  'GET /attendances/waiting': everybody,
  'GET /attendances/:id': everybody,
  'POST /attendances': attendants,
  'POST /attendances/:id/hand-over': attendants,
  'POST /attendances/:id/close': attendants,

  'GET /rules': viewers,
  'GET /rules/:id': viewers,
  'POST /rules/try': viewers,
  'POST /rules': supervisors,
  'PUT /rules/order': supervisors,
  'PUT /rules/:id': supervisors,
  'DELETE /rules/:id': supervisors,

  'GET /restriction-lists': viewers,
  'GET /restriction-lists/:id': viewers,
  'GET /restriction-lists/:id/entries': viewers,
  'POST /restriction-lists/look-up': viewers,
  'POST /restriction-lists': supervisors,
  'PATCH /restriction-lists/:id': supervisors,
  'DELETE /restriction-lists/:id': supervisors,
  'POST /restriction-lists/:id/entries': supervisors,
  'POST /restriction-lists/:id/entries/remove': supervisors,
  'POST /restriction-lists/:id/import': supervisors,

  'GET /imports': supervisors,
  'GET /imports/:id': supervisors,
  'GET /imports/:id/bad-lines': supervisors,

  'GET /messages': { ...everybody, isForOwnMessages: true },
  'GET /messages/export': viewers,
  'GET /messages/:id': { ...everybody, isForOwnMessages: true },
  'GET /messages/:id/file': everybody,
  'POST /messages/:id/resend': supervisors,
  'GET /received': everybody,
  'GET /received/:id/file': everybody,

  'GET /reports': viewers,
  'GET /lanes': viewers,
  'GET /alerts': viewers,
  'GET /events': everybody,

  'GET /callbacks': viewers,
  'GET /callbacks/attempts': viewers,
  'POST /callbacks/replay': supervisors,

  'GET /direct-tokens': administrators,
  'GET /direct-tokens/:id': administrators,
  'POST /direct-tokens': administrators,
  'PATCH /direct-tokens/:id': administrators,
  'POST /direct-tokens/:id/renew': administrators,
  'DELETE /direct-tokens/:id': administrators,

  'GET /admin-keys': administrators,
  'POST /admin-keys': administrators,
  'DELETE /admin-keys/:id': administrators,

  'GET /audit': supervisors,

  'GET /apis': everybody,
  'GET /sandbox': supervisors,
  'GET /sandbox/messages': supervisors,
  'GET /sandbox/messages/:id': supervisors,
  'GET /sandbox/messages/:id/file': supervisors,
  'POST /sandbox/messages/:id/act': supervisors,
  'POST /sandbox/answers': supervisors,
  'DELETE /sandbox/messages': supervisors,
  'GET /sandbox/chaos': supervisors,
  'PUT /sandbox/chaos': supervisors,
  'DELETE /sandbox/chaos': supervisors,
  'GET /sandbox/callbacks': supervisors,
  'PUT /sandbox/callbacks': supervisors,
  'DELETE /sandbox/callbacks': supervisors,
  'GET /sandbox/events': supervisors,
}

export function isAllowed(caller: Caller, permission: Permission): boolean {
  if (caller.kind === 'key' && permission.isPersonal) return false
  if (caller.role !== undefined) return permission.roles.includes(caller.role)
  return permission.isForOwnMessages === true && caller.kind === 'key' && caller.ownUserId !== undefined
}

/** For pages that show only what may be done. */
export const permissionsOf = (caller: Caller): string[] =>
  Object.entries(permissions)
    .filter(([, permission]) => isAllowed(caller, permission))
    .map(([route]) => route)
