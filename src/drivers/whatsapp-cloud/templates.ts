/** Templates as Meta knows them: their approval, asked for or told by webhook. */
import type { ProviderTemplate } from '../../domain/provider-template.ts'
import type { SubmitResult, TemplateReport } from '../driver.ts'
import type { GraphApi } from './api.ts'
import { asList, asObject, asText } from '../json.ts'
import type { JsonObject } from '../json.ts'

/** Statuses of the API and events of the webhook. FLAGGED is only a warning and stands for no change. */
const approvals: Record<string, TemplateReport['approval']> = {
  APPROVED: 'approved',
  REINSTATED: 'approved',
  UNARCHIVED: 'approved',
  PENDING: 'pending',
  IN_APPEAL: 'pending',
  REJECTED: 'rejected',
  PAUSED: 'paused',
  DISABLED: 'disabled',
  LIMIT_EXCEEDED: 'disabled',
  LOCKED: 'disabled',
  ARCHIVED: 'disabled',
  PENDING_DELETION: 'disabled',
  DELETED: 'disabled',
}

/** `en-US` in webhooks, `en_US` elsewhere. */
const languageOf = (text: string): string => text.replace('-', '_')

function reportOf(
  name: unknown,
  language: unknown,
  status: unknown,
  reason: string | undefined,
): TemplateReport | undefined {
  const approval = approvals[(asText(status) ?? '').toUpperCase()]
  const [nameText, languageText] = [asText(name), asText(language)]
  if (approval === undefined || nameText === undefined || languageText === undefined) return undefined
  return {
    name: nameText,
    language: languageOf(languageText),
    approval,
    ...(reason && reason !== 'NONE' ? { reason } : {}),
  }
}

export function readTemplateUpdate(value: JsonObject): TemplateReport | undefined {
  const rejection = asObject(value.rejection_info)
  const other = asObject(value.other_info)
  const reason = asText(rejection.reason) ?? asText(other.description) ?? asText(value.reason)
  return reportOf(value.message_template_name, value.message_template_language, value.event, reason)
}

const pageSize = 100
/** An account has at most 6,000 templates. */
const maxPages = 100

export async function listTemplates(api: GraphApi, wabaId: string | undefined): Promise<TemplateReport[]> {
  if (wabaId === undefined) throw new Error('The setting wabaId is needed to read templates.')
  const reports: TemplateReport[] = []
  let after = ''
  for (let page = 0; page < maxPages; page++) {
    // By cursor, not by the address in `paging.next`: the token goes to no host but the line's own.
    const query = new URLSearchParams({
      fields: 'name,language,status,rejected_reason',
      limit: String(pageSize),
      ...(after ? { after } : {}),
    })
    const result = await api.call({ method: 'GET', path: `/${wabaId}/message_templates?${query.toString()}` })
    if (!result.ok)
      throw new Error(`Templates could not be read: ${result.error.code} ${result.error.message}`)
    for (const item of asList(result.body.data)) {
      const report = reportOf(item.name, item.language, item.status, asText(item.rejected_reason))
      if (report) reports.push(report)
    }
    const paging = asObject(result.body.paging)
    const next = asText(asObject(paging.cursors).after)
    if (paging.next === undefined || next === undefined || next === after) return reports
    after = next
  }
  return reports
}

/** By name the API also finds longer names, so the page is looked through. */
async function findTemplateId(
  api: GraphApi,
  wabaId: string,
  { name, language }: ProviderTemplate,
): Promise<{ ok: true; id: string | undefined } | Extract<SubmitResult, { ok: false }>> {
  const query = new URLSearchParams({ fields: 'name,language', name, limit: String(pageSize) })
  const result = await api.call({ method: 'GET', path: `/${wabaId}/message_templates?${query.toString()}` })
  if (!result.ok) return result
  const found = asList(result.body.data).find(
    (item) => asText(item.name) === name && languageOf(asText(item.language) ?? '') === language,
  )
  return { ok: true, id: asText(found?.id) }
}

export async function submitTemplate(
  api: GraphApi,
  wabaId: string | undefined,
  template: ProviderTemplate,
): Promise<SubmitResult> {
  if (wabaId === undefined)
    return {
      ok: false,
      error: { kind: 'misconfigured', code: 'no_waba_id', message: 'the line has no business account id' },
    }
  const existing = await findTemplateId(api, wabaId, template)
  if (!existing.ok) return existing
  const { name, language, ...changeable } = template
  const result = await api.call({
    method: 'POST',
    path: existing.id === undefined ? `/${wabaId}/message_templates` : `/${existing.id}`,
    json: existing.id === undefined ? template : changeable,
  })
  if (!result.ok) return result
  const approval = approvals[(asText(result.body.status) ?? 'PENDING').toUpperCase()] ?? 'pending'
  return { ok: true, report: { name, language, approval } }
}
