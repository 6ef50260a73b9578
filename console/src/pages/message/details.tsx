/** Whose it is, which way it took, and every id it is known by. */
import type { ReactNode } from 'react'
import { AppLink } from '../../components/app-link.tsx'
import { CopyText } from '../../components/copy-text.tsx'
import { Instant } from '../../components/instant.tsx'
import { Panel } from '../../components/panel.tsx'
import { text } from '../../text/index.ts'
import type { MessageDetail } from '../message.tsx'
import classes from './details.module.css'

const words = text.message

export function Details({ message }: { message: MessageDetail }) {
  const { contactId, contactName, lineId, lineName, templateId, templateName, sender, providerIds } = message
  const facts: [string, ReactNode][] = [
    [words.recipient, <CopyText key="" value={message.recipient} />],
    [
      words.contact,
      contactId && (
        <AppLink to="/contacts/$id" params={{ id: contactId }} inherit>
          {contactName || words.toContact}
        </AppLink>
      ),
    ],
    [
      words.line,
      lineId && (
        <AppLink to="/channels/$id" params={{ id: lineId }} inherit>
          {lineName ?? lineId}
        </AppLink>
      ),
    ],
    [
      words.template,
      templateId ? (
        <AppLink to="/templates/$id" params={{ id: templateId }} inherit>
          {templateName ?? templateId}
        </AppLink>
      ) : (
        words.freeText
      ),
    ],
    [words.segment, message.segmentName ?? message.segmentId],
    [words.api, text.common.apis[message.api]],
    [words.sender, sender && <Sender sender={sender} />],
    [words.accepted, <Instant key="" at={message.acceptedAt} as="short" />],
    [words.handedOver, message.handedOverAt && <Instant at={message.handedOverAt} as="short" />],
    [words.settled, message.settledAt && <Instant at={message.settledAt} as="short" />],
    [words.expires, message.state === 'queued' && <Instant at={message.expiresAt} as="short" />],
    [words.contractCode, message.contractCode && <CopyText value={message.contractCode} />],
    [words.documentNumber, message.documentNumber && <CopyText value={message.documentNumber} />],
    [words.callId, message.callId && <CopyText value={message.callId} />],
    [
      words.providerIds,
      providerIds.length > 0 &&
        providerIds.map(({ providerId }) => (
          <div key={providerId}>
            <CopyText value={providerId} />
          </div>
        )),
    ],
    [words.id, <CopyText key="" value={message.id} />],
    [words.requestId, <CopyText key="" value={message.requestId} />],
  ]
  return (
    <Panel title={words.details}>
      <dl className={classes['facts']}>
        {facts
          .filter(([, value]) => value !== null && value !== '' && value !== false && value !== undefined)
          .map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
      </dl>
    </Panel>
  )
}

function Sender({ sender: { kind, id, name } }: { sender: NonNullable<MessageDetail['sender']> }) {
  const rest = ` (${words.senderKinds[kind]})`
  if (kind !== 'user') return name + rest
  return (
    <>
      <AppLink to="/users/$id" params={{ id }} inherit>
        {name}
      </AppLink>
      {rest}
    </>
  )
}
