/** The README's script, run exactly as it is printed, against a started program. */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { directCommands, unifiedCommands } from '../../src/cli/greeting.ts'
import { root, startProgram, type Program } from '../harness/program.ts'

let program: Program
beforeAll(async () => {
  program = await startProgram()
})
afterAll(() => program?.stop())

const run = async (script: string): Promise<string> => {
  const env = {
    ...process.env,
    POMBO_DATA_DIR: program.dataDir,
    PATH: `${dirname(process.execPath)}:${process.env['PATH']}`,
  }
  const { stdout } = await promisify(execFile)('sh', ['-eu', '-c', script], {
    cwd: root,
    env,
    timeout: 60_000,
  })
  return stdout
}

/** The block of the section, without the fence. */
function scriptOf(section: string): string {
  const readme = readFileSync(join(root, 'README.md'), 'utf8')
  const script = readme.split(`## ${section}\n`)[1]?.split('\n## ')[0]?.split('```sh\n')[1]?.split('```')[0]
  if (script === undefined) throw new Error(`The README has no script under "${section}".`)
  return script
}

const answersIn = (output: string) =>
  output
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>)

test("the README's script logs in and sends one message on each channel", async () => {
  const answers = answersIn(await run(scriptOf('Send your first messages')))
  expect(answers).toEqual(
    Array.from({ length: 3 }, () => ({
      messageId: expect.stringMatching(/^msg_[0-9a-f]{32}$/),
      status: 'queued',
      requestId: expect.stringMatching(/^req_/),
    })),
  )
})

test("the README's script for the Direct API sends on each channel, and is told both reasons of a refusal", async () => {
  const answers = answersIn(await run(scriptOf('Send through the Direct Message API')))
  const accepted = { result: 'message is being processed' }
  expect(answers.slice(0, 3)).toEqual([accepted, accepted, accepted])
  expect(answers[3]).toMatchObject({ errors: {}, record_errors: [] })
  expect(answers[3]!['conflicts']).toHaveLength(2)
})

test('what the README sends arrives in the sandbox, on all three channels', async () => {
  const { sandbox } = await program.quickstart()
  const seen = async () => {
    const answer = await fetch(`${sandbox.url}/api/messages?limit=100`)
    const { messages } = (await answer.json()) as { messages: { channel: string; to: string }[] }
    return new Set(messages.map(({ channel }) => channel))
  }
  await expect.poll(seen, { timeout: 20_000 }).toEqual(new Set(['email', 'sms', 'whatsapp']))
})

test('so do the commands that a terminal shows, for both APIs', async () => {
  const quickstart = await program.quickstart()
  const unified = await run(unifiedCommands(quickstart).join('\necho\n'))
  expect(answersIn(unified).map(({ status }) => status)).toEqual(['queued', 'queued', 'queued'])
  const direct = await run(directCommands(quickstart).join('\necho\n'))
  expect(answersIn(direct)).toEqual(
    Array.from({ length: 3 }, () => ({ result: 'message is being processed' })),
  )
})

test('the quickstart file tells where the sandbox and the media items are', async () => {
  const { sandbox, media } = await program.quickstart()
  expect((await fetch(sandbox.url)).status).toBe(200)
  for (const { url } of media) {
    const answer = await fetch(url)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'image/png'])
  }
  expect((await fetch(`${media[0]!.url}x`)).status).toBe(404)
})
