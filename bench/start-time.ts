/** From the start of an installed checkout to ready: on an empty folder, then again on the same. */
import type { Measurement } from './measurement.ts'
import { newFolder, removeFolder, startPombo } from './programs.ts'
import { median } from './statistics.ts'

const secondsPerRound = 14

export const startTime: Measurement = {
  plannedSeconds: ({ pairs }) => pairs * secondsPerRound,
  async run({ plan, progress }) {
    const first: number[] = []
    const again: number[] = []
    for (let round = 1; round <= plan.pairs; round++) {
      progress.step(`start: ${round} of ${plan.pairs}`, secondsPerRound)
      const dataDir = await newFolder()
      for (const times of [first, again]) {
        const pombo = await startPombo({ dataDir })
        times.push(pombo.startSeconds)
        await pombo.stop()
      }
      await removeFolder(dataDir)
    }
    return [
      {
        id: 'start',
        values: first,
        details: [
          `as npm start runs it; the first start makes the database and the demo company; started again: ${median(again).toFixed(2)} s`,
        ],
      },
    ]
  },
}
