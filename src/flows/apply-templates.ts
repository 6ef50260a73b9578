/** Templates of a company's file: found again by their code. */
import { nameKey } from '../domain/channel.ts'
import type { TemplateContent } from '../domain/template.ts'
import { removeTemplate } from '../store/removals.ts'
import {
  changeTemplate,
  createTemplate,
  listTemplates,
  normalise,
  setTemplateState,
} from '../store/templates.ts'
import { byKey, isSame, must, note, refuse, showChange, type ApplyContext } from './apply-context.ts'
import type { Path } from './company-file.ts'
import { templateOf, type TemplateFile } from './template-file.ts'

export async function applyTemplates(context: ApplyContext, wanted: readonly TemplateFile[]): Promise<void> {
  const { transaction, company } = context
  const places = byKey('templates', wanted, ({ code }) => nameKey(code), 'code')
  const existing = new Map(
    (await listTemplates(transaction, company.id)).map((template) => [nameKey(template.code), template]),
  )
  for (const [at, given] of wanted.entries()) {
    const path: Path = ['templates', at]
    const template = normalise(templateOf(given))
    const current = existing.get(nameKey(given.code))
    if (current === undefined) {
      // The provider has the last word on a WhatsApp template, and says it when it is asked.
      const approval = given.approval ?? (given.channel === 'whatsapp' ? 'pending' : 'approved')
      const { id, name } = must(
        await createTemplate(transaction, company.id, { ...template, approval }),
        path,
      )
      await note(context, { action: 'create', noun: 'template', name, fields: [], id })
      continue
    }
    for (const field of ['channel', 'kind'] as const)
      if (current[field] !== template[field])
        throw refuse(
          [...path, field],
          `is ${current[field]} for this template, which stays: give the new one another code`,
        )
    const fields = contentChanges(current.content, template.content)
    for (const field of ['name', 'code'] as const)
      if (current[field] !== template[field].trim())
        fields.push(showChange(field, current[field], template[field]))
    if (fields.length > 0) must(await changeTemplate(transaction, company.id, current.id, template), path)
    const state = { isEnabled: given.isEnabled, approval: given.approval }
    for (const field of ['isEnabled', 'approval'] as const)
      if (state[field] !== undefined && state[field] !== current[field])
        fields.push(showChange(field, current[field], state[field]))
    if (fields.length === 0) continue
    await setTemplateState(transaction, company.id, current.id, state)
    await note(context, { action: 'change', noun: 'template', name: given.name, fields, id: current.id })
  }
  if (!context.isPruning) return
  for (const [key, template] of existing) {
    if (places.has(key)) continue
    await removeTemplate(transaction, company.id, template.id)
    await note(context, {
      action: 'remove',
      noun: 'template',
      name: template.name,
      fields: [],
      id: template.id,
    })
  }
}

function contentChanges(current: TemplateContent, wanted: TemplateContent): string[] {
  const fields = [...new Set([...Object.keys(current), ...Object.keys(wanted)])] as (keyof TemplateContent)[]
  return fields
    .filter((field) => !isSame(current[field], wanted[field]))
    .map((field) => showChange(field, current[field], wanted[field]))
}
