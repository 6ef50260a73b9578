import { readFile } from 'node:fs/promises'
import { parse } from 'yaml'
import { channels } from '../domain/channel.ts'
import { secretSettings, checkSettings } from '../drivers/settings.ts'
import { findDriver, driverNames } from '../drivers/registry.ts'
import { showId } from '../lib/ids.ts'
import {
  changeLine,
  createLine,
  lineAddress,
  listLines,
  makeDefaultLine,
  pauseLine,
  type LineRecord,
} from '../store/lines.ts'
import type { Company } from '../store/companies.ts'
import { CommandError, UsageError, type Command, type Group } from './command.ts'
import type { Workplace } from './database.ts'
import { printList, printThing } from './io.ts'
import { audit, found, must, readId, readOneOf, readWholeNumber, withCompany } from './nouns.ts'

const shown = (line: LineRecord) => ({
  id: showId('lin', line.id),
  name: line.name,
  channel: line.channel,
  address: lineAddress(line),
  driver: line.driver,
  isDefault: line.isDefault,
  isProspect: line.isProspect,
  isEnabled: line.isEnabled,
  isPaused: line.isPaused,
})

async function readSettingsFile(file: string | undefined): Promise<Record<string, unknown>> {
  if (file === undefined) return {}
  let settings: unknown
  try {
    settings = parse(await readFile(file, 'utf8'))
  } catch (error) {
    if (error instanceof Error && 'path' in error) throw error
    throw new CommandError(`${file} is neither YAML nor JSON: ${error instanceof Error ? error.message : ''}`)
  }
  if (typeof settings !== 'object' || settings === null || Array.isArray(settings))
    throw new CommandError(`${file} must hold one object of settings.`)
  return settings as Record<string, unknown>
}

export const line: Group = {
  summary: 'Lines: what messages leave through.',
  commands: {
    create: {
      summary: 'Create a line.',
      detail: 'The settings of its driver, secrets among them, come from a YAML or JSON file.',
      arguments: ['COMPANY', 'NAME'],
      options: {
        channel: { type: 'string', describe: `One of ${channels.join(', ')}.`, value: 'CHANNEL' },
        driver: { type: 'string', describe: `One of ${driverNames.join(', ')}.`, value: 'DRIVER' },
        settings: { type: 'string', describe: "File with the driver's settings.", value: 'FILE' },
        'country-code': { type: 'string', describe: 'Country code of its number.', value: 'N' },
        'phone-number': { type: 'string', describe: 'Its number with area code.', value: 'N' },
        email: { type: 'string', describe: 'Address of an e-mail line.', value: 'ADDRESS' },
        default: { type: 'boolean', describe: 'Make it the default line of its channel.' },
        prospect: { type: 'boolean', describe: 'Let it be drawn for prospect sends.' },
      },
      async run(given, io) {
        const channel = readOneOf('--channel', given.text('channel'), channels)
        const driver = findDriver(readOneOf('--driver', given.text('driver'), driverNames))
        if (driver === undefined || driver.channel !== channel)
          throw new UsageError(`The driver ${given.text('driver')} is not for ${channel}.`)
        const reading = checkSettings(driver.settings, await readSettingsFile(given.text('settings')))
        if (!reading.ok) throw new CommandError(`The setting ${reading.field} ${reading.reason}.`)
        await withCompany(given.arguments[0], async (company, { db, sealer }) => {
          const created = must(
            await createLine(
              db,
              sealer,
              company.id,
              {
                name: given.arguments[1]!,
                channel,
                driver: driver.name,
                settings: reading.settings,
                countryCode: readWholeNumber('country-code', given.text('country-code')),
                phoneNumber: readWholeNumber('phone-number', given.text('phone-number')),
                email: given.text('email'),
                isDefault: given.isSet('default'),
                isProspect: given.isSet('prospect'),
              },
              secretSettings(driver.settings),
            ),
            'line',
          )
          await audit(db, company, { action: 'create', noun: 'line', prefix: 'lin', id: created.id })
          printThing(io, given.isJson, shown(created))
        })
      },
    },
    list: {
      summary: 'List the lines of a company.',
      arguments: ['COMPANY'],
      async run(given, io) {
        await withCompany(given.arguments[0], async (company, { db }) =>
          printList(io, given.isJson, (await listLines(db, company.id)).map(shown)),
        )
      },
    },
    default: change('Make a line the default of its channel.', 'make default', (company, { db }, id) =>
      db.transaction((transaction) => makeDefaultLine(transaction, company.id, id)),
    ),
    pause: change('Let the messages of a line wait.', 'pause', (company, { db }, id) =>
      pauseLine(db, company.id, id, { at: new Date(), reason: 'paused from the command line' }),
    ),
    resume: change('Let the messages of a paused line leave again.', 'resume', (company, { db }, id) =>
      pauseLine(db, company.id, id, null),
    ),
    enable: change('Let a line be used again.', 'enable', async (company, { db }, id) => {
      const result = await changeLine(db, company.id, id, { isEnabled: true })
      return result && must(result, 'line')
    }),
    disable: change('Take a line out of use.', 'disable', async (company, { db }, id) => {
      const result = await changeLine(db, company.id, id, { isEnabled: false })
      return result && must(result, 'line')
    }),
  },
}

function change(
  summary: string,
  action: string,
  work: (company: Company, workplace: Workplace, id: string) => Promise<LineRecord | undefined>,
): Command {
  return {
    summary,
    arguments: ['COMPANY', 'ID'],
    async run(given, io) {
      const id = readId('lin', given.arguments[1])
      await withCompany(given.arguments[0], async (company, workplace) => {
        const changed = found(await work(company, workplace, id), 'line')
        await audit(workplace.db, company, { action, noun: 'line', prefix: 'lin', id })
        printThing(io, given.isJson, shown(changed))
      })
    },
  }
}
