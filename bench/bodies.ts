/** The template body of the document with all objects filled, for 10,000 contacts. */
export type Quickstart = {
  unified: {
    baseUrl: string
    company: string
    username: string
    password: string
    platformPrivateToken: string
  }
  lines: {
    channel: string
    countryCode?: number
    phoneNumber?: number
    prospect: boolean
    default: boolean
  }[]
  templates: { name: string; code: string; channel: string; kind: string; variables: string[] }[]
  segments: { name: string; clientCode: string }[]
}

export function sendBodies(quickstart: Quickstart, channel: 'whatsapp' | 'sms', contacts = 10_000): string[] {
  const line = quickstart.lines.find((candidate) => candidate.channel === channel && candidate.default)!
  const template = quickstart.templates.find(
    (candidate) => candidate.channel === channel && candidate.kind === 'text',
  )!
  return Array.from({ length: contacts }, (_, index) =>
    JSON.stringify({
      platformPrivateToken: quickstart.unified.platformPrivateToken,
      text: '',
      emailSubject: '',
      channel: channel === 'whatsapp' ? 3 : 2,
      attendantUserName: '',
      templateName: template.name,
      templateParameters: template.variables.map((name) => ({
        parameterName: name,
        parameterValue: `value of ${name} ${index}`,
      })),
      source: { countryCode: line.countryCode, phoneNumber: line.phoneNumber, prospect: false },
      destination: { countryCode: 55, phoneNumber: 31_980_000_000 + index, email: '' },
      discardSettings: { recentContactLastHours: 0, InAttendance: false },
      contact: {
        name: `Ana Souza ${index}`,
        customCode: `C${index}`,
        id: String(10_000_000_000 + index),
        tag: 'bench',
        jokers: ['one', 'two', 'three', 'four', 'five'],
        walletClientCode: quickstart.segments[0]!.clientCode,
        updateIfExists: true,
      },
      voiceSettings: { callId: '' },
      files: [{ address: '', base64: '', name: '' }],
    }),
  )
}
