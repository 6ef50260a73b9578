/** Bubbles, conversations and the 24-hour window: shared by contacts, attendance, messages and the sandbox. */
export const conversation = {
  title: 'Conversation',
  sentByUs: (channel: string) => `Sent by ${channel}`,
  received: (channel: string) => `Received by ${channel}`,
  subject: 'Subject',
  mailContent: 'Content of the e-mail',
  noText: 'No text',
  erased: 'The content was erased.',
  timeline: 'Timeline',
  timelineOf: (at: string) => `Timeline of the message of ${at}`,
  fetching: 'is being fetched',
  lost: 'could not be fetched',
  remote: 'kept by the sender',
  effects: { opted_out: 'They opted out of SMS by this.', opted_in: 'They opted in to SMS again by this.' },
} as const
