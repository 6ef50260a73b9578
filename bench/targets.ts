/**
 * The rows of the table. A gate must hold, a goal is where we are going; `better` says which way is up. What has
 * neither is shown because it belongs to the same story.
 */
export type Target = {
  id: string
  /** The measurement that fills it, for `--only`. */
  measurement: MeasurementName | 'tests'
  what: string
  better: 'more' | 'less'
  gate?: number
  goal?: number
  /** Of values that are no ratios. */
  unit?: 'MB' | 's'
}

export const measurementNames = [
  'accept',
  'latency',
  'end-to-end',
  'receipts',
  'memory',
  'start',
  'growth',
] as const
export type MeasurementName = (typeof measurementNames)[number]

/** What `--quick` measures. */
export const quickMeasurements: readonly MeasurementName[] = ['end-to-end', 'accept', 'latency']

export const targets = [
  {
    id: 'accept-over-echo',
    measurement: 'accept',
    what: 'durable accepts per second, over the echo',
    better: 'more',
    gate: 0.25,
    goal: 0.35,
  },
  {
    id: 'accept-over-insert',
    measurement: 'accept',
    what: 'durable accepts per second, over one INSERT per request',
    better: 'more',
    gate: 1,
    goal: 1.5,
  },
  {
    id: 'end-to-end',
    measurement: 'end-to-end',
    what: 'accepted, sent over SMPP and settled per second, over the echo',
    better: 'more',
    gate: 0.15,
    goal: 0.31,
  },
  {
    id: 'receipts',
    measurement: 'receipts',
    what: 'the same with two receipts recorded per message',
    better: 'more',
    goal: 0.15,
  },
  {
    id: 'latency',
    measurement: 'latency',
    what: 'p99 of accepting at half load (open loop), over one INSERT',
    better: 'less',
    gate: 2,
    goal: 1,
  },
  {
    id: 'growth-accept',
    measurement: 'growth',
    what: 'accept rate with 5 million messages, over 10 thousand',
    better: 'more',
    gate: 0.85,
    goal: 0.95,
  },
  {
    id: 'growth-log',
    measurement: 'growth',
    what: 'first page of the message log, filtered, at 5 million over 10 thousand',
    better: 'less',
    gate: 2,
    goal: 1.2,
  },
  {
    id: 'growth-restrictions',
    measurement: 'growth',
    what: 'restriction lookup with 1 million entries, over one thousand',
    better: 'less',
    gate: 1.5,
    goal: 1.1,
  },
  {
    id: 'memory',
    measurement: 'memory',
    what: 'memory of all Node processes under that load, flat',
    better: 'less',
    gate: 600,
    goal: 400,
    unit: 'MB',
  },
  {
    id: 'start',
    measurement: 'start',
    what: 'first start of an installed checkout to ready, embedded database included',
    better: 'less',
    gate: 6,
    goal: 3,
    unit: 's',
  },
  {
    id: 'kill',
    measurement: 'tests',
    what: 'kill -9 under load: accepted messages lost',
    better: 'less',
    gate: 0,
    goal: 0,
  },
  {
    id: 'growth-dispatch',
    measurement: 'growth',
    what: 'sent and settled per second with 5 million messages, over 10 thousand',
    better: 'more',
  },
  {
    id: 'growth-message',
    measurement: 'growth',
    what: 'one message by id with its timeline, at 5 million over 10 thousand',
    better: 'less',
  },
  {
    id: 'growth-report',
    measurement: 'growth',
    what: 'report of 30 days by day and outcome, at 5 million over 10 thousand',
    better: 'less',
  },
] as const satisfies readonly Target[]

export type TargetId = (typeof targets)[number]['id']
