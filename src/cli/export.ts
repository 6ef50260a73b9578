import { companyYaml, describeCompany } from '../flows/describe-company.ts'
import type { Command } from './command.ts'
import { printJson } from './io.ts'
import { withCompany } from './nouns.ts'

export const exportCompany: Command = {
  summary: 'Write a company as a file of "pombo apply", without secrets.',
  detail:
    'On the standard output. Entries of restriction lists, contacts, media and messages are not part of it.',
  arguments: ['COMPANY'],
  async run(given, io) {
    await withCompany(given.arguments[0], async (company, { db }) => {
      const file = await describeCompany(db, company)
      if (given.isJson) printJson(io, file)
      else io.out(companyYaml(file).trimEnd())
    })
  },
}
