/** Memory of all Node processes while messages go through to the provider: how much, and whether it stays. */
import { setTimeout as wait } from 'node:timers/promises'
import { runThrough } from './end-to-end.ts'
import { eventLoopDelays } from './event-loop.ts'
import { stageSeconds, withStage, type Context, type Measurement, type SharedStage } from './measurement.ts'
import { nodeMemory, type Memory } from './processes.ts'
import { growth, median } from './statistics.ts'
import type { Result } from './table.ts'

/** Above it, the last third stands so far over the second that it is not the noise of garbage collection. */
const flatUpTo = 1.1
const sampleMs = 500

export const memory: Measurement = {
  plannedSeconds: ({ memorySeconds }) => stageSeconds + memorySeconds + 5,
  run: (context) => withStage(context, { name: 'memory' }, (shared) => measure(context, shared)),
}

async function measure({ plan, progress }: Context, shared: SharedStage): Promise<Result[]> {
  const { pombo } = shared.stage
  if ((await nodeMemory(pombo.pid)) === undefined) return []
  progress.step(`memory: ${plan.memorySeconds} s of messages`, plan.memorySeconds + 5)
  // Delays are told since the last time anybody asked.
  await eventLoopDelays(pombo.port)
  const samples: Memory[] = []
  const isOver = new AbortController()
  const run = runThrough(shared, { seconds: plan.memorySeconds, hasReceipts: false }).finally(() =>
    isOver.abort(),
  )
  const sampling = sample(pombo.pid, samples, isOver.signal)
  const through = await run
  await sampling
  const delays = await eventLoopDelays(pombo.port)
  // The first third is the warm-up; what follows is judged by its peak.
  const pss = samples.map(({ pssMb }) => pssMb)
  const steady = pss.slice(Math.floor(pss.length / 3))
  const grown = growth(pss)
  return [
    {
      id: 'memory',
      values: steady,
      judgedBy: 'peak',
      ...(grown > flatUpTo && {
        fault: `not flat: the last third is ${grown.toFixed(2)} times the second`,
      }),
      details: [
        `${samples.at(-1)?.processes} processes at ${through.perSecond.toFixed(0)} messages/s for ${plan.memorySeconds} s; last third over second ${grown.toFixed(2)}`,
        `each page counted once; summed as RSS, shared pages several times, median ${median(samples.map(({ rssMb }) => rssMb)).toFixed(0)} MB`,
        `event-loop delay: ${delays}`,
      ],
    },
  ]
}

async function sample(pid: number, samples: Memory[], signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const memory = await nodeMemory(pid)
    if (memory) samples.push(memory)
    await wait(sampleMs, undefined, { signal }).catch(() => {})
  }
}
