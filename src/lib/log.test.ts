import { expect, test } from 'vitest'
import { censor, createLog } from './log.ts'

function logged(write: (log: ReturnType<typeof createLog>) => void): Record<string, unknown> {
  const lines: string[] = []
  write(createLog('info', { process: 'test' }, { write: (line) => void lines.push(line) }))
  return JSON.parse(lines[0]!) as Record<string, unknown>
}

test('a line is one JSON object with its time, and secrets are gone at any depth and in any spelling', () => {
  const line = logged((log) =>
    log.info(
      {
        user: 'ana',
        Password: 'p',
        line: { settings: { accessToken: 't', host: 'h' } },
        items: [{ text: 'hello' }],
      },
      'done',
    ),
  )
  expect(line).toMatchObject({
    process: 'test',
    msg: 'done',
    user: 'ana',
    Password: '[redacted]',
    line: { settings: { accessToken: '[redacted]', host: 'h' } },
    items: [{ text: '[redacted]' }],
  })
  expect(line['time']).toMatch(/^\d{4}-\d\d-\d\dT/)
})

test('what a database error quotes of a row does not get out', () => {
  const error = Object.assign(new Error('violates check constraint'), {
    detail: 'Failing row contains (secret words)',
  })
  const line = logged((log) => log.error({ err: error }, 'failed'))
  expect(JSON.stringify(line)).not.toContain('secret words')
  expect(line).toMatchObject({ err: { message: 'violates check constraint', detail: '[redacted]' } })
})

test('nothing is copied where nothing is secret, nothing is changed in what was given, and depth has an end', () => {
  const plain = { a: { b: [1] }, at: new Date(0) }
  expect(censor({ plain })).toEqual({ plain })
  const given = { token: 'x' }
  censor(given)
  expect(given.token).toBe('x')
  const round: Record<string, unknown> = {}
  round['self'] = round
  expect(JSON.stringify(censor(round))).toContain('[deep]')
  expect(censor({ bytes: Buffer.from('x') })).toEqual({ bytes: '[bytes]' })
})
