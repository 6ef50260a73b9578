/** Tokens of the direct API, as the door sees them; the console's side is in direct-tokens-admin. */
import type { Channel } from '../domain/channel.ts'
import type { Queryable, Statement } from './db.ts'

export type DirectTokenOwner = {
  tokenHash: Buffer
  tokenId: string
  companyId: string
  companyVersion: number
  suspendedAt: Date | null
  channels: Channel[]
  /** Addresses and ranges that may call; empty: any. */
  allowedAddresses: string[]
}

const lookUp: Statement = {
  name: 'look up direct tokens',
  text: `select t.hash as "tokenHash", t.id as "tokenId", t.company_id as "companyId",
      c.catalogue_version as "companyVersion", c.suspended_at as "suspendedAt", t.channels, t.allowed_addresses as "allowedAddresses"
    from direct_token t join company c on c.id = t.company_id
    where t.hash = any($1::bytea[]) and t.revoked_at is null`,
}

export const lookUpDirectTokens = (db: Queryable, hashes: Buffer[]): Promise<DirectTokenOwner[]> =>
  db.query<DirectTokenOwner>(lookUp, [hashes])
