/** Why a guarded request gave no answer. */
export type OutboundErrorKind =
  /** The guard does not allow the address. */
  | 'refused'
  /** No connection. */
  | 'unreachable'
  /** The peer's certificate is not accepted, or it does not speak TLS. */
  | 'untrusted'
  /** Connected, then cut, or an answer that is not HTTP. */
  | 'cut'
  | 'timed_out'
  | 'too_large'
  | 'too_many_redirects'

export class OutboundError extends Error {
  readonly kind: OutboundErrorKind
  /** Bytes of the request may have reached the peer: whether it acted on them is not known. */
  readonly wasSent: boolean

  constructor(kind: OutboundErrorKind, message: string, wasSent = false) {
    super(message)
    this.name = 'OutboundError'
    this.kind = kind
    this.wasSent = wasSent
  }
}
