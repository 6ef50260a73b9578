/** One run of accepting; returns the rate. Nothing but the new messages is counted: counting millions takes longer. */
import { verify } from './accept.ts'
import { load } from './programs.ts'
import type { Stage } from './stage.ts'

export async function accept(stage: Stage, seconds: number): Promise<number> {
  const since = new Date()
  const result = await load(stage.job('whatsapp', seconds * 1000))
  await verify(stage, since, [result])
  return result.perSecond
}
