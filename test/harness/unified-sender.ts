/** Sends through the unified API with what `quickstart.json` gives, as a customer's program would. */
import type { Quickstart } from '../../src/flows/demo/quickstart.ts'

export type UnifiedAnswer = { status: number; body: Record<string, unknown> }
export type UnifiedSender = (message: Record<string, unknown>) => Promise<UnifiedAnswer>

export const channelNumbers = { email: 1, sms: 2, whatsapp: 3 } as const

/** `destination`, `text` and the like are the caller's; the private token is filled in. */
export async function logInToUnified({ unified }: Quickstart): Promise<UnifiedSender> {
  const post = async (path: string, body: unknown, token?: string): Promise<UnifiedAnswer> => {
    const answer = await fetch(`${unified.baseUrl}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
      body: JSON.stringify(body),
    })
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
  }
  const { company, username, password, platformPrivateToken } = unified
  const login = await post('/v1/login', { Company: company, Username: username, Password: password })
  const token = String(login.body['access_token'])
  return (message) => post('/v1/sendmessage', { platformPrivateToken, ...message }, token)
}
