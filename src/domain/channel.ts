export const channels = ['email', 'sms', 'whatsapp'] as const
export type Channel = (typeof channels)[number]

export const apis = ['unified', 'direct'] as const
export type Api = (typeof apis)[number]

/** Names compare trimmed and without regard to case. */
export const nameKey = (name: string): string => name.trim().toLowerCase()
