/**
 * Fetches a CSV stream and saves it. The browser's own download would tell neither how far it is nor that it broke
 * off; a million rows are about 250 MB, which the browser keeps on disk as a blob.
 */
export type ExportProgress = { rows: number; bytes: number }

/** As the server bounds it. */
export const maxExportRows = 1_000_000
const newLine = 10
const tellEveryMs = 200

export async function downloadCsv(options: {
  url: string
  fileName: string
  signal: AbortSignal
  onProgress(progress: ExportProgress): void
}): Promise<ExportProgress> {
  const response = await fetch(options.url, { signal: options.signal, credentials: 'same-origin' })
  if (!response.ok || response.body === null) throw new Error(`The export was answered ${response.status}.`)
  const chunks: BlobPart[] = []
  // The first line is the header. Fields with line breaks are rare enough to count them wrong.
  const progress: ExportProgress = { rows: -1, bytes: 0 }
  let toldAt = 0
  const reader = response.body.getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    chunks.push(value)
    progress.bytes += value.length
    for (const byte of value) if (byte === newLine) progress.rows++
    if (performance.now() - toldAt > tellEveryMs) {
      toldAt = performance.now()
      options.onProgress({ ...progress, rows: Math.max(0, progress.rows) })
    }
  }
  save(new Blob(chunks, { type: 'text/csv' }), options.fileName)
  return progress
}

function save(blob: Blob, fileName: string): void {
  const url = URL.createObjectURL(blob)
  const link = document.createElement('a')
  link.href = url
  link.download = fileName
  link.click()
  // The browser has begun by then; a minute is for slow disks.
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}
