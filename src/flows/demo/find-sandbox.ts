/** Where the demo's sandbox answers, for those who may look into it: people of the demo company, on its own machine. */
import type { Queryable } from '../../store/db.ts'
import { readQuickstart } from './quickstart.ts'

/**
 * The sandbox runs where the quickstart file is, and writes its address there at every start. On another node the same
 * loopback address would be somebody else's.
 */
export const createSandboxFinder =
  ({ db, config }: { db: Queryable; config: { isDemo: boolean; dataDir: string } }) =>
  async (companyId: string): Promise<string | undefined> => {
    if (!config.isDemo) return undefined
    const rows = await db.query(
      `select 1 from setting where key = 'demo' and value->>'companyId' = $1::text`,
      [companyId],
    )
    if (rows.length === 0) return undefined
    const quickstart = await readQuickstart(config.dataDir)
    return quickstart?.sandbox.url || undefined
  }
