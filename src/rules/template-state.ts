/** The template is disabled, or its provider has not approved it. */
import type { Check } from './facts.ts'

export const checkTemplateState: Check<'template_state'> = (_settings, { template }) => {
  if (template === undefined) return undefined
  if (!template.isEnabled)
    return { reason: `template "${template.name}" is disabled`, matched: template.name }
  switch (template.approval) {
    case 'approved':
      return undefined
    case 'pending':
    case 'rejected':
    case 'paused':
    case 'disabled':
      return {
        reason: `template "${template.name}" is not approved (${template.approval})`,
        matched: template.name,
      }
  }
}
