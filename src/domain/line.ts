/** A line: what a message leaves through. */
import type { Channel } from './channel.ts'

export type Line = {
  id: string
  name: string
  channel: Channel
  countryCode?: number
  phoneNumber?: number
  email?: string
  driver: string
  isDefault: boolean
  isProspect: boolean
  isEnabled: boolean
  isPaused: boolean
  ratePerSecond: number
  /** Segments it serves; empty: all. */
  segmentIds: string[]
  failoverLineIds: string[]
}

/** What the request says about the line. */
export type LineChoice =
  | { kind: 'default'; mayFailOver: boolean }
  | { kind: 'exact'; countryCode: number; phoneNumber: number }
  | { kind: 'prospect'; countryCode?: number; phoneNumber?: number }
  /** The console: this very line, whatever the channel. */
  | { kind: 'line'; id: string }
  /** Direct API: digits with country code. */
  | { kind: 'digits'; digits: string }
