import { readFile } from 'node:fs/promises'
import { Value } from 'typebox/value'
import { parse } from 'yaml'
import type { Template } from '../domain/template.ts'
import { TemplateFile, templateOf } from '../flows/template-file.ts'
import { showId } from '../lib/ids.ts'
import {
  createTemplate,
  findTemplateByCode,
  listTemplates,
  setTemplateState,
  type TemplateInput,
} from '../store/templates.ts'
import { CommandError, type Command, type Group } from './command.ts'
import { printList, printThing, type Io } from './io.ts'
import { audit, found, must, withCompany } from './nouns.ts'

const shown = (template: Template) => ({
  id: showId('tpl', template.id),
  name: template.name,
  code: template.code,
  channel: template.channel,
  kind: template.kind,
  isEnabled: template.isEnabled,
  approval: template.approval,
  variables: template.content.variables,
})

async function readTemplateFile(file: string, io: Io): Promise<TemplateInput> {
  const text = file === '-' ? await io.readInput() : await readFile(file, 'utf8')
  let given: unknown
  try {
    given = parse(text)
  } catch (error) {
    throw new CommandError(`${file} is neither YAML nor JSON: ${error instanceof Error ? error.message : ''}`)
  }
  if (!Value.Check(TemplateFile, given)) {
    const [first] = Value.Errors(TemplateFile, given)
    const field = first?.instancePath.slice(1).replaceAll('/', '.') || 'it'
    throw new CommandError(`${file} does not describe a template: ${field} ${first?.message ?? 'is wrong'}.`)
  }
  return templateOf(given)
}

export const template: Group = {
  summary: 'Templates of a company, for all three channels.',
  commands: {
    create: {
      summary: 'Create a template from a YAML or JSON file.',
      detail:
        'The file holds name, code, channel, kind (text, carousel or verification), body, variables, and as the channel allows subject, header, footer, buttons, cards and provider. - reads the standard input.',
      arguments: ['COMPANY', 'FILE'],
      async run(given, io) {
        const input = await readTemplateFile(given.arguments[1]!, io)
        await withCompany(given.arguments[0], async (company, { db }) => {
          const created = must(await createTemplate(db, company.id, input), 'template')
          await audit(db, company, { action: 'create', noun: 'template', prefix: 'tpl', id: created.id })
          printThing(io, given.isJson, shown(created))
        })
      },
    },
    list: {
      summary: 'List the templates of a company.',
      arguments: ['COMPANY'],
      async run(given, io) {
        await withCompany(given.arguments[0], async (company, { db }) =>
          printList(io, given.isJson, (await listTemplates(db, company.id)).map(shown)),
        )
      },
    },
    show: {
      summary: 'Show a template with its content.',
      arguments: ['COMPANY', 'CODE'],
      async run(given, io) {
        await withCompany(given.arguments[0], async (company, { db }) => {
          const known = found(await findTemplateByCode(db, company.id, given.arguments[1]!), 'template')
          printThing(io, given.isJson, { ...shown(known), content: known.content })
        })
      },
    },
    enable: switching('Let a template be sent again.', 'enable'),
    disable: switching('Keep a template from being sent.', 'disable'),
  },
}

function switching(summary: string, action: 'enable' | 'disable'): Command {
  return {
    summary,
    arguments: ['COMPANY', 'CODE'],
    async run(given, io) {
      await withCompany(given.arguments[0], async (company, { db }) => {
        const known = found(await findTemplateByCode(db, company.id, given.arguments[1]!), 'template')
        const changed = await setTemplateState(db, company.id, known.id, { isEnabled: action === 'enable' })
        await audit(db, company, { action, noun: 'template', prefix: 'tpl', id: known.id })
        printThing(io, given.isJson, shown(changed ?? known))
      })
    },
  }
}
