/** What a measurement is given and gives back. */
import type { Progress } from './progress.ts'
import { startProvider, type Provider } from './programs.ts'
import { openStage, type Stage } from './stage.ts'
import type { Result } from './table.ts'

export type Plan = {
  pairs: number
  /** Of one run of the load. */
  seconds: number
  /** Messages of the large database, and entries of its restriction list. */
  messages: number
  restrictions: number
  /** How long memory is watched. */
  memorySeconds: number
}

export type SharedStage = { stage: Stage; provider: Provider }

export type Context = {
  plan: Plan
  progress: Progress
  /** A quick run measures everything on one Pombo; a full one gives each measurement a fresh one. */
  shared?: SharedStage
  /** Accepts per second at saturation, once they are known. */
  acceptsPerSecond?: number
}

export type Measurement = {
  plannedSeconds(plan: Plan): number
  run(context: Context): Promise<Result[]>
}

/** Until Pombo is ready on an empty folder, and gone again. */
export const stageSeconds = 12

export async function openShared(hasReceipts = false): Promise<SharedStage> {
  const provider = await startProvider(hasReceipts)
  try {
    return { provider, stage: await openStage(provider) }
  } catch (error) {
    await provider.stop()
    throw error
  }
}

export async function closeShared({ stage, provider }: SharedStage): Promise<void> {
  await stage.stop()
  await provider.stop()
}

export async function withStage<T>(
  context: Context,
  options: { hasReceipts?: boolean; name: string },
  work: (shared: SharedStage) => Promise<T>,
): Promise<T> {
  if (context.shared && !options.hasReceipts) return await work(context.shared)
  context.progress.step(`${options.name}: starting Pombo`, stageSeconds)
  const shared = await openShared(options.hasReceipts)
  const result = await work(shared)
  await closeShared(shared)
  return result
}
