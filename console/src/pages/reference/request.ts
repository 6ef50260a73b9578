/** The request as it is sent, and what came back. Only ever to the console's own address. */
export type TryRequest = { method: string; path: string; token: string; isDryRun: boolean; body: string }

export type TryAnswer = {
  status: number
  tookMs: number
  headers: string
  body: unknown
  messageId: string | undefined
}

const headersOf = ({ token, isDryRun }: TryRequest): Record<string, string> => ({
  'Content-Type': 'application/json',
  ...(token !== '' && { Authorization: `Bearer ${token}` }),
  ...(isDryRun && { 'Pombo-Dry-Run': 'true' }),
})

/** In single quotes a shell reads nothing but the quote itself. */
const quoted = (value: string): string => `'${value.replaceAll("'", String.raw`'\''`)}'`

export const curlOf = (request: TryRequest, baseUrl: string): string =>
  [
    `curl -i ${quoted(baseUrl + request.path)}`,
    ...Object.entries(headersOf(request)).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    `-d ${quoted(request.body)}`,
  ].join(' \\\n  ')

/** Throws when the server could not be reached. */
export async function send(request: TryRequest): Promise<TryAnswer> {
  const startedAt = performance.now()
  const answer = await fetch(request.path, {
    method: request.method,
    headers: headersOf(request),
    body: request.body,
    // As a program would call: without the console's own session.
    credentials: 'omit',
    signal: AbortSignal.timeout(30_000),
  })
  const text = await answer.text()
  const body = parse(text)
  return {
    status: answer.status,
    tookMs: Math.round(performance.now() - startedAt),
    headers: [...answer.headers].map(([name, value]) => `${name}: ${value}`).join('\n'),
    body,
    messageId: messageIdIn(body) ?? answer.headers.get('pombo-message-id') ?? undefined,
  }
}

function parse(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text)
  } catch {
    return text
  }
}

const messageIdIn = (body: unknown): string | undefined => {
  const id =
    typeof body === 'object' && body !== null ? (body as { messageId?: unknown }).messageId : undefined
  return typeof id === 'string' ? id : undefined
}

export const isJson = (text: string): boolean => typeof parse(text) === 'object'
