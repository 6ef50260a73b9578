/** What one check said, in words, and the way to the rule, list, template or contact behind it. */
import { Text } from '@mantine/core'
import { IconCircleCheck, IconCircleX, IconClock } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { AppLink } from '../../components/app-link.tsx'
import { Instant } from '../../components/instant.tsx'
import { useApiQuery } from '../../queries.ts'
import { useCan } from '../../session.ts'
import { text } from '../../text/index.ts'
import type { MessageDetail } from '../message.tsx'
import classes from './verdict.module.css'

const words = text.message
export type Verdict = MessageDetail['reasons'][number]

type VerdictProps = { verdict: Verdict; message: MessageDetail; hasAdvice?: boolean }

const capital = (sentence: string): string => sentence.charAt(0).toUpperCase() + sentence.slice(1)

export function VerdictView({ verdict, message, hasAdvice = false }: VerdictProps) {
  const told = text.verdicts[verdict.rule]
  const { passed, action, reason, matched, nextAllowedAt } = verdict
  const Icon = passed ? IconCircleCheck : action === 'defer' ? IconClock : IconCircleX
  const kind = passed ? 'passes' : action === 'defer' ? 'delays' : 'refuses'
  return (
    <div className={classes['verdict']} data-kind={kind}>
      <Icon size={18} aria-label={words[kind]} role="img" />
      <div className={classes['words']}>
        <strong>{told.name}</strong> {passed ? told.passed : reason ? `${capital(reason)}.` : told.failed}
        {!passed && (
          <>
            {matched && (
              <div>
                {words.matched} <code>{matched}</code>
              </div>
            )}
            {nextAllowedAt && (
              <div>
                {words.nextAllowedAt} <Instant at={nextAllowedAt} as="short" />
              </div>
            )}
            {hasAdvice && action !== 'defer' && <div>{told.advice}</div>}
            <Links verdict={verdict} message={message} />
          </>
        )}
      </div>
    </div>
  )
}

function Links({ verdict: { rule, ruleId }, message: { templateId, contactId } }: VerdictProps) {
  const links: ReactNode[] = []
  if (ruleId) links.push(<RuleLinks key="rule" id={ruleId} />)
  if (rule === 'template_state' && templateId)
    links.push(
      <AppLink key="template" to="/templates/$id" params={{ id: templateId }} inherit>
        {words.toTemplate}
      </AppLink>,
    )
  if (aboutContact.includes(rule) && contactId)
    links.push(
      <AppLink key="contact" to="/contacts/$id" params={{ id: contactId }} inherit>
        {words.toContact}
      </AppLink>,
    )
  return links.length > 0 && <div className={classes['links']}>{links}</div>
}

const aboutContact: readonly Verdict['rule'][] = ['opt_out', 'attendance', 'recent_contact', 'window']

/** The rule as it is now, and its list: for those who may see rules. */
function RuleLinks({ id }: { id: string }) {
  const can = useCan()
  const { data, error } = useApiQuery('/rules/:id', { path: { id } })
  if (!can('GET /rules/:id')) return null
  if (error)
    return (
      <Text span inherit c="dimmed">
        {words.ruleGone}
      </Text>
    )
  const listId = data?.settings?.listId
  return (
    <>
      {listId && (
        <AppLink to="/restriction-lists/$id" params={{ id: listId }} inherit>
          {words.toList}
        </AppLink>
      )}
      {data && (
        <AppLink to="/rules" search={{ q: data.name } as never} inherit>
          {words.toRule(data.name)}
        </AppLink>
      )}
    </>
  )
}
