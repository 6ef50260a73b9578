/** What was said on the wire, for the timeline of a message. */
const maxExchangeChars = 4000

/** Cut to half of the 8 KB that an exchange may take. */
export const clip = (text: string): string =>
  text.length <= maxExchangeChars ? text : `${text.slice(0, maxExchangeChars)}… (${text.length} characters)`
