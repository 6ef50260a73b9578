/**
 * Business time. Everything that asks "what time is it for the customer" asks a Clock, so that tests move time
 * instead of waiting for it. Leases and heartbeats do not use it: they use the database's own clock.
 */
export type Clock = { now(): Date }

export const systemClock: Clock = { now: () => new Date() }
