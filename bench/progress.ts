/** How far the run is: percent and time left, from the seconds that the steps were planned to take. */
export type Progress = {
  /** Begins a step that should take so many seconds. */
  step(text: string, plannedSeconds: number): void
  done(): void
}

export type Estimate = { percent: number; leftSeconds: number }

/**
 * Steps that are over took what they took; those to come are stretched by how wrong the plan has been so far, but
 * never shortened, since a promise that grows is worse than one that shrinks.
 */
export function estimate(facts: {
  plannedTotal: number
  plannedDone: number
  elapsedSeconds: number
}): Estimate {
  const { plannedTotal, plannedDone, elapsedSeconds } = facts
  const share = plannedTotal > 0 ? Math.min(1, plannedDone / plannedTotal) : 1
  const stretch = plannedDone >= minSecondsToJudge ? Math.max(1, elapsedSeconds / plannedDone) : 1
  return {
    percent: Math.floor(share * 100),
    leftSeconds: Math.max(0, plannedTotal - plannedDone) * stretch,
  }
}

/** Before that, a slow first moment would promise hours. */
const minSecondsToJudge = 5

const showSeconds = (seconds: number): string =>
  seconds >= 90 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds)} s`

/** One line that is written over on a terminal, and printed line by line elsewhere. */
export function createProgress(plannedTotal: number, out: NodeJS.WriteStream = process.stderr): Progress {
  const startedAt = performance.now()
  let plannedDone = 0
  let planned = 0
  let text = ''
  let stepAt = startedAt
  const show = () => {
    const now = performance.now()
    const inStep = Math.min(planned, (now - stepAt) / 1000)
    const { percent, leftSeconds } = estimate({
      plannedTotal,
      plannedDone: plannedDone + inStep,
      elapsedSeconds: (now - startedAt) / 1000,
    })
    const line = `${String(percent).padStart(3)} %, about ${showSeconds(leftSeconds)} left: ${text}`
    out.write(out.isTTY ? `\r\u001b[K${line.slice(0, (out.columns ?? 80) - 1)}` : `${line}\n`)
  }
  const ticker = out.isTTY ? setInterval(show, 1000) : undefined
  ticker?.unref()
  return {
    step(next, plannedSeconds) {
      plannedDone += planned
      planned = plannedSeconds
      text = next
      stepAt = performance.now()
      show()
    },
    done() {
      clearInterval(ticker)
      if (out.isTTY) out.write('\r\u001b[K')
    },
  }
}
