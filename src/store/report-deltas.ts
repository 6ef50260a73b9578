/** Gathers report deltas of one batch: one row per combination of dimensions. */
import type { ReportDelta } from './receipts.ts'

type Dimensions = {
  companyId: string
  api: string
  channel: string
  lineId: string | null
  templateId: string | null
  segmentId: string | null
}

export const hourOf = (at: Date): Date => new Date(Math.floor(at.getTime() / 3_600_000) * 3_600_000)

export class DeltaSum {
  readonly #rows = new Map<string, ReportDelta>()

  add(of: Dimensions, outcome: string, hour: Date, count: number, latencyBucket: number | null = null): void {
    const key = `${of.companyId} ${of.api} ${of.channel} ${of.lineId} ${of.templateId} ${of.segmentId} ${outcome} ${hour.getTime()} ${latencyBucket}`
    const row = this.#rows.get(key)
    if (row) row.count += count
    else
      this.#rows.set(key, {
        company_id: of.companyId,
        hour,
        api: of.api,
        channel: of.channel,
        line_id: of.lineId,
        template_id: of.templateId,
        segment_id: of.segmentId,
        outcome,
        latency_bucket: latencyBucket,
        count,
      })
  }

  rows(): ReportDelta[] {
    return [...this.#rows.values()].filter((row) => row.count !== 0)
  }
}
