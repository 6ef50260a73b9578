import { readConfig } from '../config.ts'
import { RotationRefused, rotateSealingKey } from '../flows/rotate-sealing-key.ts'
import { recordAudit } from '../store/audit.ts'
import { isConflictError } from '../store/db.ts'
import { UnreadableValueError } from '../store/sealed-values.ts'
import { CommandError, type Command } from './command.ts'
import { withDatabase, type Workplace } from './database.ts'
import { printThing } from './io.ts'
import { actorName } from './nouns.ts'
import { createProgress } from './progress.ts'

export const rotateKey: Command = {
  summary: 'Seal all stored secrets with a new key.',
  detail: [
    'Every node must be stopped. All secrets are sealed anew in one transaction; the new key then replaces sealing.key',
    'in the data folder. Other nodes need a copy of it before they start again. A key that comes from POMBO_SEALING_KEY',
    'cannot be replaced from here: the new one is left in sealing.key.new, for you to set.',
    'Backups made before hold the old key and stay readable.',
  ].join('\n'),
  async run(given, io) {
    const config = readConfig()
    const ownName = 'pombo rotate-key'
    const rotate = async ({ db }: Workplace) => {
      const progress = createProgress(io)
      const result = await rotateSealingKey({
        db,
        keySource: config,
        ownName,
        onProgress: (done) => progress.show(undefined, `${done} values sealed`),
      })
        .catch((error: unknown) => {
          if (error instanceof RotationRefused || error instanceof UnreadableValueError)
            throw new CommandError(error.message, { cause: error })
          if (isConflictError(error))
            throw new CommandError('Somebody is changing stored secrets right now: try again in a moment.', {
              cause: error,
            })
          throw error
        })
        .finally(() => progress.end())
      await recordAudit(db, { actor: actorName(), action: 'rotate', noun: 'sealing key' })
      printThing(io, given.isJson, result)
      if (result.mustBeSet && !given.isJson)
        io.err(
          `Set POMBO_SEALING_KEY to the content of ${result.file} on every node, then remove that file and sealing.key.old.`,
        )
      else if (!given.isJson) io.err('Copy the new sealing.key to every other node before it starts again.')
    }
    await withDatabase(config, rotate, ownName)
  },
}
