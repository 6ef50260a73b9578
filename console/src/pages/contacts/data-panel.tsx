import { Button } from '@mantine/core'
import { IconPencil } from '@tabler/icons-react'
import { useState, type ReactNode } from 'react'
import type { AnswerOf } from '../../api.ts'
import { Can } from '../../components/can.tsx'
import { FormModal } from '../../components/form-modal.tsx'
import { Instant } from '../../components/instant.tsx'
import { Panel } from '../../components/panel.tsx'
import { useApiQuery } from '../../queries.ts'
import { text } from '../../text/index.ts'
import { ChangeContactForm } from './contact-form.tsx'
import classes from './contact.module.css'

const words = text.contacts
type Contact = AnswerOf<'GET /contacts/:id'>

export function DataPanel({ contact, version }: { contact: Contact; version: string | undefined }) {
  const [isOpen, setIsOpen] = useState(false)
  const { data: segments } = useApiQuery('/segments', { query: { limit: 200, sort: 'name' } })
  const segment = segments?.items.find(({ id }) => id === contact.segmentId)
  const facts: [string, ReactNode][] = [
    [words.name, contact.name],
    [words.phone, contact.phone],
    [words.email, contact.email],
    [words.segment, segment?.name],
    [words.tag, contact.tag],
    [words.taxId, contact.taxId],
    [words.customCode, contact.customCode],
    ...contact.jokers.map((joker, place): [string, ReactNode] => [words.joker(place + 1), joker]),
    [words.lastInteraction, contact.lastInteractionAt && <Instant at={contact.lastInteractionAt} />],
    [words.since, <Instant key="since" at={contact.createdAt} />],
  ]
  return (
    <Panel
      title={words.data}
      actions={
        <Can do="PATCH /contacts/:id">
          <Button
            variant="default"
            size="xs"
            leftSection={<IconPencil size={14} aria-hidden />}
            onClick={() => setIsOpen(true)}
          >
            {words.changeData}
          </Button>
        </Can>
      }
    >
      <dl className={classes['facts']}>
        {facts
          .filter(([, value]) => Boolean(value))
          .map(([label, value]) => (
            <Fact key={label} label={label} value={value} />
          ))}
      </dl>
      <FormModal title={words.data} isOpen={isOpen} onClose={() => setIsOpen(false)} size="lg">
        <ChangeContactForm contact={contact} version={version} onDone={() => setIsOpen(false)} />
      </FormModal>
    </Panel>
  )
}

const Fact = ({ label, value }: { label: string; value: ReactNode }) => (
  <>
    <dt>{label}</dt>
    <dd>{value}</dd>
  </>
)
