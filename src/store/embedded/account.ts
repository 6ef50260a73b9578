import { readFile, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { EmbeddedError } from './errors.ts'

export type Account = { name: string; uid: number; gid: number }

export function isRoot(): boolean {
  return process.getuid?.() === 0
}

/**
 * PostgreSQL refuses to run as root. Taken in this order: the owner of an existing database, a user `pombo` that
 * an operator may have made for it, `nobody`, any other entry. initdb needs an entry in /etc/passwd.
 */
export async function chooseAccount(ownerUid: number | undefined): Promise<Account> {
  const accounts = (await readFile('/etc/passwd', 'utf8').catch(() => ''))
    .split('\n')
    .map((line) => line.split(':'))
    .map(([name = '', , uid, gid]) => ({ name, uid: Number(uid), gid: Number(gid) }))
    .filter((account) => account.name !== '' && account.uid > 0 && account.gid > 0)
  const chosen =
    accounts.find((account) => account.uid === ownerUid) ??
    accounts.find((account) => account.name === 'pombo') ??
    accounts.find((account) => account.name === 'nobody') ??
    accounts[0]
  if (chosen) return chosen
  throw new EmbeddedError(
    'no_account',
    'PostgreSQL must not run as root, and /etc/passwd has no other user: add one (for example `pombo`), or set DATABASE_URL.',
  )
}

/** Whether `account` can pass through every folder above `path`, and through `path` if it is one. Modes only, no ACLs: a wrong "no" costs a copy. */
export async function canReach(account: Account, path: string): Promise<boolean> {
  for (let folder = path; ; folder = dirname(folder)) {
    const facts = await stat(folder).catch(() => undefined)
    if (facts) {
      const bit = facts.uid === account.uid ? 0o100 : facts.gid === account.gid ? 0o010 : 0o001
      if ((facts.mode & bit) === 0) return false
    }
    if (folder === dirname(folder)) return true
  }
}
