/** What a driver is: a folder that can open a line, send through it, and read what its provider reports back. */
import type { Socket } from 'node:net'
import type { TObject } from 'typebox'
import type { Channel } from '../domain/channel.ts'
import type { MessageContent } from '../domain/message.ts'
import type { ProviderTemplate } from '../domain/provider-template.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { ConnectTarget, OutboundRequest, OutboundResponse } from '../lib/outbound/index.ts'
import type { DriverError } from './errors.ts'

/** A line as its driver sees it: settings were checked against the driver's schema, secrets are opened. */
export type DriverLine = {
  id: string
  channel: Channel
  /** Digits with country code, or the e-mail address. */
  address: string
  settings: Record<string, unknown>
  /** Where the provider reports to: `{public}/hooks/{driver}/{line}`. */
  hookUrl: string
}

export type OutgoingMessage = {
  /** Shown form, `msg_…`: carried to the provider wherever it has a field for it. */
  id: string
  /** Digits with country code, or the e-mail address. */
  recipient: string
  content: MessageContent
  /** Files of the content, in order of appearance, already in hand: drivers never fetch. */
  files: Map<string, FileBytes>
  expiresAt: Date
  attempt: number
  /**
   * What an earlier attempt already handed over, part by part (null: not taken). Only the others are sent, so that a
   * retry repeats nothing.
   */
  takenIds?: readonly (string | null)[]
  /** One-click unsubscribe address (RFC 8058), for e-mail that has one. */
  unsubscribeUrl?: string
}

/** Keyed in `OutgoingMessage.files` by hash, or by address for fetched files. */
export type FileBytes = { bytes: Buffer; name: string; mimeType: string }

/** What was said on the wire, redacted, at most 8 KB. */
export type Exchange = { request: string; response: string }

export type SendResult =
  /** One provider id per part, in order. `isDelivered`: the peer is where it ends; no receipt will follow. */
  | { ok: true; providerIds: string[]; isDelivered?: boolean; exchange?: Exchange }
  /** `takenIds`: parts that were taken although the whole was not; give them back with the next attempt. */
  | { ok: false; error: DriverError; takenIds?: (string | null)[]; exchange?: Exchange }

/** What a provider reports about a message it took. */
export type Receipt = {
  /** The provider's id, in canonical form, or our own id where the provider echoes it. */
  providerId?: string
  messageId?: string
  state: 'sent' | 'delivered' | 'read' | 'failed' | 'expired'
  at: Date
  error?: { code: string; message: string }
  /** The recipient asked for no more: opts the contact out of this line's channel. */
  isOptOut?: boolean
  /** The recipient wants no marketing; everything else may still be sent. */
  isMarketingOptOut?: boolean
}

export type InboundMessage = {
  /** The provider's id: the key against repeats. */
  providerId: string
  /** Digits with country code; absent when the provider withholds it. */
  from?: string
  userId?: string
  text: string
  at: Date
  media: { providerMediaId: string; mimeType: string; name?: string }[]
  /** Parts of a longer SMS: joined when all have arrived. */
  part?: { reference: number; total: number; number: number }
  kind: 'text' | 'media' | 'button' | 'other'
  /** The provider's id of the message it answers. */
  repliesTo?: string
  /** How the person calls themselves there. */
  profileName?: string
}

export type TemplateReport = {
  name: string
  language: string
  approval: 'approved' | 'pending' | 'rejected' | 'paused' | 'disabled'
  reason?: string
}

/** What came of giving a template to the provider: where it stands now, or the provider's refusal. */
export type SubmitResult = { ok: true; report: TemplateReport } | { ok: false; error: DriverError }

export type LineReport =
  | { kind: 'receipt'; receipt: Receipt }
  | { kind: 'inbound'; message: InboundMessage }
  | { kind: 'template'; report: TemplateReport }
  | { kind: 'marketing_opt_out'; from?: string; userId?: string; isStop: boolean }

export type DriverContext = {
  clock: Clock
  log: Log
  /** Stores what came over the session (SMPP); resolves when it is durable, so that the peer may be told so. */
  report(reports: LineReport[]): Promise<void>
  /** An HTTP client behind the outbound guard, for line hosts. Throws `OutboundError`. */
  fetch: GuardedFetch
  /** A socket behind the same guard. Throws `OutboundError`. */
  connect: GuardedConnect
}

export type GuardedFetch = (url: string, request: OutboundRequest) => Promise<OutboundResponse>
export type GuardedConnect = (target: ConnectTarget) => Promise<Socket>

/** An open line. Owned by one worker at a time; `send` may be called many times at once, up to the line's window. */
export type LineSession = {
  send(message: OutgoingMessage): Promise<SendResult>
  /** How many `send` may be under way at once: more would only wait inside. */
  window: number
  /** Fetches what an inbound message refers to. */
  fetchMedia?(providerMediaId: string): Promise<FileBytes>
  /** Approval states of the templates the provider knows. */
  listTemplates?(): Promise<TemplateReport[]>
  /** Whose templates these are: lines of one account share them. */
  templateAccount?: string
  /** Registers a template, or replaces the provider's version of it; it is then looked at by people over there. */
  submitTemplate?(template: ProviderTemplate): Promise<SubmitResult>
  /** Connected and able to take messages now? For health pages. */
  health(): { isUp: boolean; detail: string }
  close(): Promise<void>
}

export type HookRequest = {
  method: string
  /** Path and query as called. */
  url: string
  /** The full public address as the provider was told it. */
  publicUrl: string
  headers: Record<string, string | undefined>
  rawBody: Buffer
}

export type HookResult =
  | {
      ok: true
      reports: LineReport[]
      /** One address may serve several lines of an account: these are for the line with this value of a setting. */
      elsewhere?: { setting: string; value: string; reports: LineReport[] }[]
      answer?: { status: number; body: string; contentType?: string }
    }
  /** Forged, stale or unreadable: no effect. */
  | { ok: false; status: number; reason: string }

export type Driver = {
  name: string
  channel: Channel
  title: string
  /** JSON schema of the line's settings, read with `readSettings`; properties with `isSecret: true` are sealed, redacted and masked. */
  settings: TObject
  open(line: DriverLine, context: DriverContext): LineSession
  /** For providers that report over HTTP. */
  hook?(line: DriverLine, request: HookRequest): HookResult
}
