/** The provider's judgement of WhatsApp templates: asking for it, and reading it now instead of in ten minutes. */
import { Type } from 'typebox'
import type { Refusal } from '../../flows/submit-template.ts'
import { showId } from '../../lib/ids.ts'
import { getTemplate } from '../../store/templates.ts'
import { readVersion } from '../../store/versions.ts'
import { changed, conflict, notFound, type Refused } from './replies.ts'
import { act, type Route } from './route.ts'
import { show, TemplateOut } from './templates.ts'
import { checkVersion } from './wire.ts'

const refusalOf = (reason: 'no_line' | Refusal): Refused =>
  conflict(
    reason === 'no_line'
      ? 'no WhatsApp line leads to an account with templates: enable one, and give it its business account id'
      : `the provider refused over the line ${reason.lineName}: ${reason.message}`,
  )

export const templateApprovalRoutes: Route[] = [
  act({
    method: 'POST',
    path: '/templates/refresh',
    noun: 'template',
    action: 'refresh',
    summary: 'Ask the provider where its templates stand',
    description: 'Happens by itself every ten minutes, and whenever the provider reports a change.',
    answer: Type.Object({ known: Type.Integer({ description: 'Templates that the provider has.' }) }),
    async handle({ deps, companyId }) {
      const result = await deps.providerTemplates.refresh(companyId)
      if (!result.ok) return refusalOf(result.reason)
      return changed({ known: result.known }, { detail: { known: result.known } })
    },
  }),
  act({
    method: 'POST',
    path: '/templates/:id/submit',
    ids: ['tpl'],
    noun: 'template',
    action: 'submit',
    summary: 'Hand a WhatsApp template to the provider for approval',
    description:
      'Registers it in every account of the enabled lines, or replaces the version that is known there.',
    answer: TemplateOut,
    async handle(call) {
      const {
        deps,
        db,
        companyId,
        ids: [id = ''],
      } = call
      const stale = await checkVersion(call, 'template', id)
      if (stale) return stale
      const template = await getTemplate(db, companyId, id)
      if (template === undefined) return notFound
      if (template.channel !== 'whatsapp') return conflict('only WhatsApp templates need an approval')
      const result = await deps.providerTemplates.submit(companyId, template)
      if (!result.ok) return refusalOf(result.reason)
      const current = (await getTemplate(db, companyId, id)) ?? template
      return changed(
        show(current),
        { nounId: showId('tpl', id), detail: { name: template.name, approval: current.approval } },
        { version: await readVersion(db, 'template', companyId, id) },
      )
    },
  }),
]
