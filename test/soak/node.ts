/** One node: started, killed in parts or as a whole, and started again on the same folder and port. */
import {
  isReadyAt,
  startProgram,
  type Part,
  type Pids,
  type Program,
  type ProgramOptions,
} from '../harness/program.ts'

export type SoakNode = {
  name: string
  baseUrl: string
  dataDir: string
  start(): Promise<void>
  pids(): Promise<Pids>
  kill(part: Part): Promise<void>
  isReady(): Promise<boolean>
  /** Processes that ended by an error of their own since the last call, each with its last words. */
  takeCrashes(): string[]
  /** SIGTERM, and waits for its end. */
  stop(): Promise<void>
}

export function createNode(
  name: string,
  options: Required<Pick<ProgramOptions, 'dataDir' | 'port' | 'env'>>,
): SoakNode {
  let program: Program | undefined
  const running = () => {
    if (program === undefined) throw new Error(`Node ${name} does not run.`)
    return program
  }
  const baseUrl = `http://127.0.0.1:${options.port}`
  return {
    name,
    baseUrl,
    dataDir: options.dataDir,
    async start() {
      program = await startProgram({ ...options, isLinked: true })
    },
    pids: () => running().pids(),
    kill: (part) => running().kill(part),
    isReady: () => isReadyAt(baseUrl),
    takeCrashes() {
      const lines = program?.lines.all.splice(0) ?? []
      const words = lines.flatMap(({ text }) => (typeof text === 'string' ? [text.trim()] : []))
      // Node's own last line after an error that nobody caught.
      return words.flatMap((text, index) =>
        text.startsWith('Node.js v')
          ? [
              words
                .slice(Math.max(0, index - 40), index)
                .join(' ')
                .slice(0, 500),
            ]
          : [],
      )
    },
    async stop() {
      const last = program
      program = undefined
      await last?.stop()
    },
  }
}
