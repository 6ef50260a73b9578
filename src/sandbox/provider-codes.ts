/** The providers' own words for their codes: what an error looks like on the wire, whoever caused it. */

export type WhatsAppCode = { http: number; title: string; type?: string }

const bad = (title: string): WhatsAppCode => ({ http: 400, title })

/** Cloud API error codes. The HTTP status is our choice where the provider states none; senders decide by code. */
export const whatsappCodes: Readonly<Record<number, WhatsAppCode>> = {
  0: { http: 401, title: 'AuthException', type: 'OAuthException' },
  1: { http: 500, title: 'API Unknown' },
  2: { http: 503, title: 'API Service' },
  3: { http: 403, title: 'API Method' },
  4: { http: 429, title: 'API Too Many Calls' },
  10: { http: 403, title: 'Permission Denied' },
  33: bad('Parameter value is not valid'),
  100: bad('Invalid parameter'),
  190: { http: 401, title: 'Access token has expired', type: 'OAuthException' },
  200: { http: 403, title: 'API Permission' },
  368: { http: 403, title: 'Temporarily blocked for policies violations' },
  80007: { http: 429, title: 'Rate limit issues' },
  80008: { http: 429, title: 'Rate limit issues' },
  130403: bad('Business blocked the user'),
  130429: { http: 429, title: 'Rate limit hit' },
  130472: bad("User's number is part of an experiment"),
  130497: { http: 403, title: 'Business account is restricted from messaging users in this country' },
  131000: { http: 500, title: 'Something went wrong' },
  131005: { http: 403, title: 'Access denied' },
  131008: bad('Required parameter is missing'),
  131009: bad('Parameter value is not valid'),
  131016: { http: 503, title: 'Service unavailable' },
  131021: bad('Recipient cannot be sender'),
  131026: bad('Message undeliverable'),
  131031: { http: 403, title: 'Account has been locked' },
  131037: bad('Display name approval needed'),
  131042: bad('Business eligibility payment issue'),
  131045: { http: 500, title: 'Incorrect certificate' },
  131047: bad('Re-engagement message'),
  131048: { http: 429, title: 'Spam rate limit hit' },
  131049: bad('This message was not delivered to maintain healthy ecosystem engagement'),
  131050: bad('User has stopped marketing messages'),
  131051: bad('Unsupported message type'),
  131052: bad('Media download error'),
  131053: bad('Media upload error'),
  131056: { http: 429, title: '(Business Account, Consumer Account) pair rate limit hit' },
  131057: { http: 503, title: 'Account in maintenance mode' },
  131062: bad('Business-scoped user id recipients not supported for this message'),
  131063: bad('Marketing messages disabled on Cloud API'),
  131064: bad('Category violation limit'),
  132000: bad('Number of parameters does not match the expected number of params'),
  132001: { http: 404, title: 'Template name does not exist in the translation' },
  132005: bad('Translated text too long'),
  132007: bad('Template content policy violated'),
  132012: bad('Parameter format does not match format in the created template'),
  132015: bad('Template is paused'),
  132016: bad('Template is disabled'),
  132018: bad('Template parameter content is not valid'),
  132068: bad('Flow is blocked'),
  132069: bad('Flow is throttled'),
  133004: { http: 503, title: 'Server temporarily unavailable' },
  133010: bad('Phone number not registered'),
  133016: { http: 429, title: 'Account register rate limit exceeded' },
  134011: bad('Payments terms of service not accepted'),
  135000: bad('Generic user error'),
}

export const whatsappCode = (code: number): WhatsAppCode => whatsappCodes[code] ?? bad('Generic error')

/** SMPP command_status values an SMSC answers with. */
export const smppStatusNames: Readonly<Record<number, string>> = {
  0x01: 'ESME_RINVMSGLEN',
  0x03: 'ESME_RINVCMDID',
  0x04: 'ESME_RINVBNDSTS',
  0x05: 'ESME_RALYBND',
  0x08: 'ESME_RSYSERR',
  0x0a: 'ESME_RINVSRCADR',
  0x0b: 'ESME_RINVDSTADR',
  0x0d: 'ESME_RBINDFAIL',
  0x0e: 'ESME_RINVPASWD',
  0x0f: 'ESME_RINVSYSID',
  0x14: 'ESME_RMSGQFUL',
  0x43: 'ESME_RINVESMCLASS',
  0x45: 'ESME_RSUBMITFAIL',
  0x48: 'ESME_RINVSRCTON',
  0x49: 'ESME_RINVSRCNPI',
  0x50: 'ESME_RINVDSTTON',
  0x51: 'ESME_RINVDSTNPI',
  0x58: 'ESME_RTHROTTLED',
  0x61: 'ESME_RINVSCHED',
  0x62: 'ESME_RINVEXPIRY',
  0x64: 'ESME_RX_T_APPN',
  0x65: 'ESME_RX_P_APPN',
  0x66: 'ESME_RX_R_APPN',
  0x104: 'ESME_RINVDCS',
}

/** SMTP reply codes with the enhanced status and the words that usually come with them. */
export const smtpReplies: Readonly<Record<number, string>> = {
  421: '4.3.2 Service not available, try again later',
  450: '4.2.0 Mailbox temporarily unavailable',
  451: '4.7.1 Greylisted, please try again later',
  452: '4.5.3 Too many recipients',
  454: '4.7.0 Temporary authentication failure',
  503: '5.5.1 Bad sequence of commands',
  530: '5.7.0 Authentication required',
  535: '5.7.8 Authentication credentials invalid',
  550: '5.1.1 No such user here',
  552: '5.2.2 Mailbox is full',
  553: '5.1.3 Recipient address is not valid',
  554: '5.7.1 Message rejected as spam',
}

export const smtpReply = (code: number): string =>
  smtpReplies[code] ?? (code < 500 ? '4.0.0 Temporary failure' : '5.0.0 Permanent failure')

/** Final states in a receipt: the TLV value and Appendix B's word. */
export const smppReceiptStates: Readonly<Record<number, string>> = {
  1: 'ENROUTE',
  2: 'DELIVRD',
  3: 'EXPIRED',
  4: 'DELETED',
  5: 'UNDELIV',
  6: 'ACCEPTD',
  7: 'UNKNOWN',
  8: 'REJECTD',
}
