/** One Ctrl-C arrives several times: from the terminal, from npm, from the script that started us. */
const SAME_WISH_MS = 1_000

export type StopSignals = {
  /** Settles at the first wish to stop. */
  asked: Promise<string>
  isAsked(): boolean
  /** Called when somebody asks again: it is urgent. */
  onAgain(work: () => void): void
  close(): void
}

export function listenForStop(): StopSignals {
  let askedAt: number | undefined
  let again: (() => void) | undefined
  let settle: (reason: string) => void
  const asked = new Promise<string>((resolve) => (settle = resolve))
  const hear = (reason: string) => {
    if (askedAt === undefined) {
      askedAt = performance.now()
      settle(reason)
    } else if (performance.now() - askedAt > SAME_WISH_MS) again?.()
  }
  const signals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const
  for (const signal of signals) process.on(signal, hear)
  // The script that started us was killed.
  const onDisconnect = () => hear('disconnect')
  process.on('disconnect', onDisconnect)
  return {
    asked,
    isAsked: () => askedAt !== undefined,
    onAgain: (work) => (again = work),
    close() {
      for (const signal of signals) process.off(signal, hear)
      process.off('disconnect', onDisconnect)
    },
  }
}
