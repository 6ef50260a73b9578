import { stat } from 'node:fs/promises'
import http from 'node:http'
import https from 'node:https'
import { join } from 'node:path'
import { ConfigError, readConfig, type Config } from '../config.ts'
import { examineDatabase, examineMachine, type Finding } from '../flows/examine.ts'
import { systemClock } from '../lib/clock.ts'
import { claimPort, PortError } from '../supervisor/ports.ts'
import type { Command } from './command.ts'
import { withDatabaseAsItIs } from './database.ts'
import { explain } from './explain.ts'
import { bold, coloured, dim, printJson, type Io } from './io.ts'

const answerTimeoutMs = 2_000

export const doctor: Command = {
  summary: 'Look whether everything is well, and say what to do where it is not.',
  detail:
    'Changes nothing. The exit code is 1 when something is wrong, 0 when all is well or only worth a look.',
  async run(given, io) {
    const findings = await examine()
    const isWell = findings.every(({ state }) => state !== 'fail')
    if (given.isJson) printJson(io, { isWell, findings })
    else printFindings(io, findings)
    return isWell ? 0 : 1
  },
}

async function examine(): Promise<Finding[]> {
  let config: Config
  try {
    config = readConfig()
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const advice = 'Correct it in the environment or in .env.'
    return error.message.split('\n').map((detail) => ({ check: 'settings', state: 'fail', detail, advice }))
  }
  return [
    { check: 'settings', state: 'ok', detail: 'all readable' },
    ...(await examineMachine({
      nodeVersion: process.version,
      dataDir: config.dataDir,
      minFreeBytes: config.minFreeDiskBytes,
    })),
    ...(await examinePorts(config)),
    ...(await examineReachable(config)),
  ]
}

async function examinePorts(config: Config): Promise<Finding[]> {
  const ports: [string, number | undefined][] = [
    ['POMBO_PORT', config.port],
    ['POMBO_DIRECT_PORT', config.directPort],
    ['POMBO_CONSOLE_PORT', config.consolePort],
  ]
  const findings: Finding[] = []
  for (const [setting, port] of ports) {
    if (port === undefined) continue
    if (port === 0) {
      findings.push({ check: 'port', state: 'ok', detail: 'a free one is taken at the start' })
      continue
    }
    const check = `port ${port}`
    try {
      await claimPort(setting, config.host, port)
      findings.push({ check, state: 'ok', detail: 'free: no Pombo serves here now' })
    } catch (error) {
      if (!(error instanceof PortError)) throw error
      findings.push(
        (await isOurs(config, port))
          ? { check, state: 'ok', detail: 'a Pombo serves here' }
          : { check, state: 'fail', detail: error.message, advice: `Then start again, or set ${setting}.` },
      )
    }
  }
  return findings
}

/** Every answer of ours names its request, whatever the path. */
function isOurs({ host, tls }: Config, port: number): Promise<boolean> {
  const hostname = ['0.0.0.0', '::', ''].includes(host) ? '127.0.0.1' : host
  // Who answers is all that is asked, and on our own port: the name in the certificate is another question.
  const options = {
    hostname,
    port,
    path: '/health/live',
    timeout: answerTimeoutMs,
    rejectUnauthorized: false,
  }
  return new Promise((resolve) => {
    const request = (tls ? https : http).get(options, (answer) => {
      let text = ''
      answer.setEncoding('utf8')
      answer.on('data', (chunk: string) => {
        text += chunk
        if (text.length > 4096) request.destroy()
      })
      answer.on('end', () => resolve(text.includes('"requestId"')))
      answer.on('error', () => resolve(false))
    })
    request.on('timeout', () => request.destroy())
    request.on('error', () => resolve(false))
    request.on('close', () => resolve(false))
  })
}

async function examineReachable(config: Config): Promise<Finding[]> {
  if (config.databaseUrl === undefined && !(await hasEmbedded(config.dataDir)))
    return [
      {
        check: 'database',
        state: 'warn',
        detail: 'there is none in the data folder yet',
        advice: 'The first start makes it.',
      },
    ]
  try {
    return await withDatabaseAsItIs(config, (db) =>
      examineDatabase({
        db,
        clock: systemClock,
        keySource: config,
        // The worker, and one connection per process for wake-ups and the like.
        neededConnections: (config.servingProcesses + 1) * (config.databaseConnections + 1),
        minFreeBytes: config.minFreeDiskBytes,
      }),
    )
  } catch (error) {
    const detail = explain(error, config.databaseUrl)
    if (detail === undefined) throw error
    return [{ check: 'database', state: 'fail', detail, advice: 'Nothing works without it.' }]
  }
}

/** Without making a data folder where there is none. */
async function hasEmbedded(dataDir: string): Promise<boolean> {
  for (const name of ['postgres', 'postgres-is-in'])
    if (await stat(join(dataDir, name)).catch(() => undefined)) return true
  return false
}

const colours = { ok: 'green', warn: 'yellow', fail: 'red' } as const

function printFindings(io: Io, findings: readonly Finding[]): void {
  const width = Math.max(...findings.map(({ check }) => check.length))
  for (const { check, state, detail, advice } of findings) {
    io.out(`${coloured(io, colours[state], state.padEnd(4))}  ${bold(io, check.padEnd(width))}  ${detail}`)
    if (state !== 'ok' && advice !== undefined) io.out(dim(io, `${' '.repeat(width + 8)}${advice}`))
  }
}
