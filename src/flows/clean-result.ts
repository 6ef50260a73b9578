/** What a provider said to a hand-over, mended so that it can be stored: one odd answer must not hold up a batch. */
import type { SendResult } from '../drivers/driver.ts'

const maxIdLength = 255
const maxWordsLength = 2_000
const maxExchangeLength = 8_192

const clean = (text: string, maxLength: number): string => {
  const short = text.length > maxLength ? text.slice(0, maxLength) : text
  return (short.includes('\0') ? short.replaceAll('\0', '') : short).toWellFormed()
}
const cleanId = (id: string): string => clean(id, maxIdLength)

export function cleanResult(result: SendResult): SendResult {
  if (result.ok) return { ...result, providerIds: result.providerIds.map(cleanId) }
  const { error, takenIds, exchange } = result
  return {
    ok: false,
    error: {
      ...error,
      code: clean(error.code, maxIdLength),
      message: clean(error.message, maxWordsLength),
    },
    ...(takenIds && { takenIds: takenIds.map((id) => (id === null ? null : cleanId(id))) }),
    ...(exchange && {
      exchange: {
        request: clean(exchange.request, maxExchangeLength),
        response: clean(exchange.response, maxExchangeLength),
      },
    }),
  }
}
