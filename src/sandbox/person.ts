/** What the person with the phone and the mailbox can do. Each act says in one sentence why it cannot be done. */
import { randomUUID } from 'node:crypto'
import type { Clock } from '../lib/clock.ts'
import type { GraphSandbox } from './graph/server.ts'
import type { Inbox } from './inbox.ts'
import type { SmscSandbox } from './smsc/server.ts'
import type { SmtpSandbox } from './smtp.ts'
import type { Channel, SandboxMessage } from './types.ts'

export type Act =
  | { ok: true; message?: SandboxMessage; note?: string; url?: string; code?: string }
  | { ok: false; reason: string }

export type NewAnswer = {
  channel: Exclude<Channel, 'email'>
  /** The person's number. */
  from: string
  /** The business's side: phone number id or number; for SMS the sender it came from. */
  to: string
  line?: string
  text: string
  /** Quotes this message. */
  about?: string
}

export type PersonActs = {
  write(answer: NewAnswer): Act
  read(id: string): Act
  press(id: string, button: { index: number; card?: number }): Act
  react(id: string, emoji: string): Act
  sendFile(
    id: string,
    file: {
      kind: 'image' | 'video' | 'audio' | 'document'
      mimeType: string
      filename?: string
      bytes: Buffer
      caption?: string
    },
  ): Promise<Act>
  bounce(id: string): Act
  unsubscribe(id: string): Promise<Act>
  /** WhatsApp's own switch for marketing messages. */
  stopMarketing(phoneNumberId: string, digits: string, isStopped: boolean): Act
}

const digitsOf = (address: string) => address.replaceAll(/\D/g, '')
const no = (reason: string): Act => ({ ok: false, reason })

export function createPersonActs(options: {
  inbox: Inbox
  smtp: SmtpSandbox
  smsc: SmscSandbox
  graph: GraphSandbox
  clock: Clock
  isAllowed: (url: string) => boolean
}): PersonActs {
  const { inbox, smtp, smsc, graph, clock } = options
  function phoneFor(to: string) {
    const byNumber = [...graph.state.phones.values()].find((phone) => digitsOf(phone.number) === digitsOf(to))
    return graph.state.phones.get(to) ?? byNumber
  }

  function whatsappMessage(id: string) {
    const message = inbox.get(id)
    const phone = message?.channel === 'whatsapp' ? graph.state.phones.get(message.line) : undefined
    return message && phone && message.direction === 'toPerson'
      ? { message, phone, digits: digitsOf(message.to) }
      : undefined
  }

  /** RFC 3464: what a mail system writes back when it took a message and then could not deliver it. */
  function deliveryReport(message: SandboxMessage): Buffer {
    const boundary = randomUUID()
    const to = message.email?.envelopeFrom ?? message.from
    return Buffer.from(
      [
        'From: Mail Delivery System <mailer-daemon@sandbox.localhost>',
        `To: <${to}>`,
        'Subject: Undelivered Mail Returned to Sender',
        `Date: ${clock.now().toUTCString()}`,
        `Message-ID: <${randomUUID()}@sandbox.localhost>`,
        'Auto-Submitted: auto-replied',
        'MIME-Version: 1.0',
        `Content-Type: multipart/report; report-type=delivery-status; boundary="${boundary}"`,
        '',
        `--${boundary}`,
        'Content-Type: text/plain; charset=utf-8',
        '',
        `The message to <${message.to}> could not be delivered: 550 5.1.1 No such user here`,
        '',
        `--${boundary}`,
        'Content-Type: message/delivery-status',
        '',
        'Reporting-MTA: dns; sandbox.localhost',
        '',
        `Final-Recipient: rfc822; ${message.to}`,
        'Action: failed',
        'Status: 5.1.1',
        'Diagnostic-Code: smtp; 550 5.1.1 No such user here',
        '',
        `--${boundary}`,
        'Content-Type: text/rfc822-headers',
        '',
        ...(message.email?.messageId ? [`Message-ID: ${message.email.messageId}`] : []),
        `To: ${message.to}`,
        '',
        `--${boundary}--`,
        '',
      ].join('\r\n'),
    )
  }

  return {
    write({ channel, from, to, line, text, about }) {
      if (text === '') return no('text is empty.')
      if (!/^\d{8,15}$/.test(digitsOf(from))) return no('from is not a phone number.')
      const quoted = about === undefined ? undefined : inbox.get(about)
      if (channel === 'sms') {
        const systemId = line ?? smsc.accounts[0]!
        if (!smsc.accounts.includes(systemId))
          return no(`line ${systemId} is no SMPP account of the sandbox.`)
        return { ok: true, message: smsc.receive(systemId, from, to, text) }
      }
      const phone = phoneFor(to)
      if (!phone) return no(`to (${to}) is no WhatsApp number of the sandbox.`)
      return {
        ok: true,
        message: graph.notifier.receive(phone, digitsOf(from), { kind: 'text', text }, quoted),
      }
    },
    read(id) {
      const message = inbox.get(id)
      if (!message) return no('There is no such message.')
      if (message.direction === 'fromPerson') return no('This message is the person’s own.')
      if (message.status === 'read') return { ok: true, message, note: 'It was read before.' }
      if (message.status === 'failed') return no('This message failed; the person never saw it.')
      if (message.channel === 'whatsapp') graph.notifier.status(message, 'read')
      else inbox.setStatus(id, { status: 'read' })
      return { ok: true, message }
    },
    press(id, { index, card }) {
      const found = whatsappMessage(id)
      if (!found) return no('There is no such WhatsApp message.')
      const { message, phone, digits } = found
      const buttons = card === undefined ? message.whatsapp?.buttons : message.whatsapp?.cards[card]?.buttons
      const button = buttons?.[index]
      if (!button) return no('The message has no such button.')
      if (button.kind !== 'quick_reply') {
        // The business hears nothing of these: they open a page, dial or copy.
        return { ok: true, message, url: button.url, code: button.code }
      }
      if (message.status !== 'read') graph.notifier.status(message, 'read')
      const payload = button.payload ?? button.text
      const answer =
        message.whatsapp?.type === 'interactive'
          ? ({ kind: 'interactive', id: payload, title: button.text } as const)
          : ({ kind: 'button', text: button.text, payload } as const)
      return { ok: true, message: graph.notifier.receive(phone, digits, answer, message) }
    },
    react(id, emoji) {
      const found = whatsappMessage(id)
      if (!found) return no('There is no such WhatsApp message.')
      return {
        ok: true,
        message: graph.notifier.receive(
          found.phone,
          found.digits,
          { kind: 'reaction', emoji },
          found.message,
        ),
      }
    },
    async sendFile(id, { kind, mimeType, filename, bytes, caption }) {
      const found = whatsappMessage(id)
      if (!found) return no('There is no such WhatsApp message.')
      const item = await graph.media.put(bytes, mimeType, filename)
      const answer = { kind: 'media', media: kind, item, caption } as const
      return { ok: true, message: graph.notifier.receive(found.phone, found.digits, answer) }
    },
    bounce(id) {
      const message = inbox.get(id)
      if (message?.channel !== 'email' || message.direction !== 'toPerson')
        return no('There is no such e-mail.')
      smtp.setBouncing(message.to, true)
      inbox.setStatus(id, { status: 'failed', error: { code: 550, title: '5.1.1 No such user here' } })
      const to = message.email?.envelopeFrom || message.from
      const report = inbox.add(
        {
          channel: 'email',
          direction: 'fromPerson',
          line: message.line,
          from: message.to,
          to,
          subject: 'Undelivered Mail Returned to Sender',
          text: `The message to <${message.to}> could not be delivered: 550 5.1.1 No such user here`,
          providerIds: [],
          email: { envelopeFrom: '', hasHtml: false, isSecure: false, attachments: [] },
        },
        deliveryReport(message),
      )
      return { ok: true, message: report, note: `From now on ${message.to} is refused with 550 5.1.1.` }
    },
    async unsubscribe(id) {
      const message = inbox.get(id)
      const offer = message?.email?.unsubscribe
      if (!message || !offer) return no('This message has no List-Unsubscribe address.')
      if (!offer.isOneClick)
        return no('The message has no List-Unsubscribe-Post header: one click is not offered.')
      if (!options.isAllowed(offer.url))
        return no(`${offer.url} is not on loopback; the sandbox calls no other machine.`)
      try {
        const answer = await fetch(offer.url, {
          method: 'POST',
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
          body: 'List-Unsubscribe=One-Click',
          redirect: 'manual',
          signal: AbortSignal.timeout(10_000),
        })
        await answer.body?.cancel()
        if (answer.ok) return { ok: true, message, note: `${offer.url} answered ${answer.status}.` }
        return no(`${offer.url} answered ${answer.status}; RFC 8058 asks for success without a redirect.`)
      } catch (fault) {
        return no(`${offer.url} could not be reached: ${(fault as Error).message}`)
      }
    },
    stopMarketing(phoneNumberId, digits, isStopped) {
      const phone = phoneFor(phoneNumberId)
      if (!phone) return no('There is no such WhatsApp number.')
      graph.notifier.preferences(phone, digitsOf(digits), isStopped)
      return { ok: true }
    },
  }
}
