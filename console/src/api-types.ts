/**
 * What the admin API takes and gives, by route. Written from its own schemas: do not change this by hand, but with
 * `npm run pombo -- generate`.
 */
export type Api = {
  /** Sign in. */
  'POST /session': {
    path: undefined
    query: undefined
    body: {
      /** The company, as it is registered. */
      company: string
      /** A person of the console. */
      username: string
      /** Their password. */
      password: string
      /** Of the authenticator app, or a recovery code; when a second factor is set up. */
      code?: string | null
    }
    answer: undefined
  }
  /** Sign out. */
  'DELETE /session': {
    path: undefined
    query: undefined
    body: undefined
    answer: undefined
  }
  /** Who am I, and what may I do. */
  'GET /session': {
    path: undefined
    query: undefined
    body: undefined
    answer: {
      /** `user` or `key`. */
      kind: string
      name: string
      role: string | null
      company: {
        id: string
        name?: string | null
      }
      /** Every route that may be called: `GET /users` … */
      permissions: string[]
    }
  }
  /** Change my password. */
  'POST /account/password': {
    path: undefined
    query: undefined
    body: {
      /** The password of now. */
      currentPassword: string
      /** At least 8 characters. */
      newPassword: string
    }
    answer: undefined
  }
  /** Do I have a second factor. */
  'GET /account/totp': {
    path: undefined
    query: undefined
    body: undefined
    answer: {
      isSetUp: boolean
      recoveryCodesLeft: number
    }
  }
  /** Begin a second factor. */
  'POST /account/totp': {
    path: undefined
    query: undefined
    body: {
      /** The password of now. */
      currentPassword: string
    }
    answer: {
      secret: string
      /** For a QR code. */
      url: string
    }
  }
  /** Confirm the second factor with a first code. */
  'PUT /account/totp': {
    path: undefined
    query: undefined
    body: {
      /** Six digits of the app. */
      code: string
    }
    answer: {
      /** Each is good once; shown now and never again. */
      recoveryCodes: string[]
    }
  }
  /** Get new recovery codes. */
  'POST /account/recovery-codes': {
    path: undefined
    query: undefined
    body: {
      /** The password of now. */
      currentPassword: string
    }
    answer: {
      /** Each is good once; shown now and never again. */
      recoveryCodes: string[]
    }
  }
  /** Remove my second factor. */
  'POST /account/totp/remove': {
    path: undefined
    query: undefined
    body: {
      /** The password of now. */
      currentPassword: string
      /** Of the app, or a recovery code. */
      code?: string | null
    }
    answer: undefined
  }
  /** List my sessions. */
  'GET /account/sessions': {
    path: undefined
    query: undefined
    body: undefined
    answer: {
      items: {
        /** The session. */
        id: string
        /** When it began. */
        createdAt: string
        /** When it was last used, to the minute. */
        seenAt: string
        /** When it ends at the latest. */
        expiresAt: string
        address: string
        userAgent: string
        isCurrent: boolean
      }[]
    }
  }
  /** End one of my sessions. */
  'DELETE /account/sessions/:id': {
    path: {
      id: string
    }
    query: undefined
    body: undefined
    answer: undefined
  }
  /** Read the company. */
  'GET /company': {
    path: undefined
    query: undefined
    body: undefined
    answer: {
      id: string
      /** The name that people sign in with. */
      name?: string | null
      /** Like America/Sao_Paulo: for caps, hours and reports. */
      timeZone?: string | null
      /** How long a token of the unified API is good. */
      tokenTtlSeconds?: number | null
      /** After so many idle hours an attendance ends. */
      attendanceIdleHours?: number | null
      /** What to do when a hand-over got no answer: leave it to a person, or send again. */
      unknownPolicy?: 'leave' | 'send_again' | null
      suspendedAt: string | null
      /** When the company was made. */
      createdAt: string
    }
  }
  /** Change the company. */
  'PATCH /company': {
    path: undefined
    query: undefined
    body: {
      /** The name that people sign in with. */
      name?: string | null
      /** Like America/Sao_Paulo: for caps, hours and reports. */
      timeZone?: string | null
      /** How long a token of the unified API is good. */
      tokenTtlSeconds?: number | null
      /** After so many idle hours an attendance ends. */
      attendanceIdleHours?: number | null
      /** What to do when a hand-over got no answer: leave it to a person, or send again. */
      unknownPolicy?: 'leave' | 'send_again' | null
    }
    answer: {
      id: string
      /** The name that people sign in with. */
      name?: string | null
      /** Like America/Sao_Paulo: for caps, hours and reports. */
      timeZone?: string | null
      /** How long a token of the unified API is good. */
      tokenTtlSeconds?: number | null
      /** After so many idle hours an attendance ends. */
      attendanceIdleHours?: number | null
      /** What to do when a hand-over got no answer: leave it to a person, or send again. */
      unknownPolicy?: 'leave' | 'send_again' | null
      suspendedAt: string | null
      /** When the company was made. */
      createdAt: string
    }
  }
  /** Read the words by which people opt out of SMS. */
  'GET /company/stop-words': {
    path: undefined
    query: undefined
    body: undefined
    answer: {
      /** In place of the usual ones; none: the usual ones. */
      stop?: string[] | null
      /** In place of the usual ones; none: the usual ones. */
      start?: string[] | null
      usual: {
        stop: string[]
        start: string[]
      }
    }
  }
  /** Set the words by which people opt out of SMS, and in again. */
  'PUT /company/stop-words': {
    path: undefined
    query: undefined
    body: {
      /** In place of the usual ones; none: the usual ones. */
      stop?: string[] | null
      /** In place of the usual ones; none: the usual ones. */
      start?: string[] | null
    }
    answer: {
      /** In place of the usual ones; none: the usual ones. */
      stop?: string[] | null
      /** In place of the usual ones; none: the usual ones. */
      start?: string[] | null
    }
  }
  /** Show the private token of the account. */
  'POST /company/private-token/show': {
    path: undefined
    query: undefined
    body: undefined
    answer: {
      privateToken: string
    }
  }
  /** Replace the private token of the account. */
  'POST /company/private-token/rotate': {
    path: undefined
    query: undefined
    body: {
      /** How long the old one stays good along with the new one. */
      overlapHours?: number | null
    }
    answer: {
      privateToken: string
      /** Until then the old one works. */
      previousUntil: string
    }
  }
  /** Show the secret that signs callbacks. */
  'POST /company/callback-secret/show': {
    path: undefined
    query: undefined
    body: undefined
    answer: {
      secret: string
    }
  }
  /** Replace the secret that signs callbacks. */
  'POST /company/callback-secret/rotate': {
    path: undefined
    query: undefined
    body: {
      /** How long the old one stays good along with the new one. */
      overlapHours?: number | null
    }
    answer: {
      secret: string
    }
  }
  /** Read the webhook. */
  'GET /company/webhook': {
    path: undefined
    query: undefined
    body: undefined
    answer: {
      url: string
      /** Empty: all. */
      events: string[]
      disabledAt: string | null
      disabledReason: string | null
      /** When it was set. */
      createdAt: string
    }
  }
  /** Set the webhook. */
  'PUT /company/webhook': {
    path: undefined
    query: undefined
    body: {
      /** http or https. */
      url: string
      /** What it is told; none named: everything. */
      events?: ('message.sent' | 'message.delivered' | 'message.read' | 'message.failed' | 'message.expired' | 'message.blocked' | 'message.unknown' | 'message.received')[] | null
      /** Off: nothing is sent. */
      isEnabled?: boolean | null
    }
    answer: {
      url: string
      /** Empty: all. */
      events: string[]
      disabledAt: string | null
      disabledReason: string | null
      /** When it was set. */
      createdAt: string
      /** Of a new webhook; a change keeps it and leaves it out. */
      secret?: string | null
    }
  }
  /** Remove the webhook. */
  'DELETE /company/webhook': {
    path: undefined
    query: undefined
    body: undefined
    answer: undefined
  }
  /** Show the webhook's secret. */
  'POST /company/webhook/secret/show': {
    path: undefined
    query: undefined
    body: undefined
    answer: {
      secret: string
    }
  }
  /** Replace the webhook's secret. */
  'POST /company/webhook/secret/rotate': {
    path: undefined
    query: undefined
    body: {
      /** How long the old one stays good along with the new one. */
      overlapHours?: number | null
    }
    answer: {
      secret: string
    }
  }
  /** List users. */
  'GET /users': {
    path: undefined
    query: {
      cursor?: string
      limit?: number
      q?: string
      sort?: 'name' | 'createdAt'
      order?: 'asc' | 'desc'
      role?: 'administrator' | 'supervisor' | 'attendant' | 'viewer' | 'api'
    }
    body: undefined
    answer: {
      items: {
        /** The user. */
        id: string
        name: string
        /** What they may do; `api` logs in to send. */
        role: 'administrator' | 'supervisor' | 'attendant' | 'viewer' | 'api'
        disabledAt: string | null
        /** When the user was made. */
        createdAt: string
      }[]
      nextCursor: string | null
    }
  }
  /** Create a user. */
  'POST /users': {
    path: undefined
    query: undefined
    body: {
      /** How they sign in. */
      name: string
      /** What they may do. */
      role: 'administrator' | 'supervisor' | 'attendant' | 'viewer' | 'api'
      /** At least 8 characters. */
      password: string
    }
    answer: {
      /** The user. */
      id: string
      name: string
      /** What they may do; `api` logs in to send. */
      role: 'administrator' | 'supervisor' | 'attendant' | 'viewer' | 'api'
      disabledAt: string | null
      /** When the user was made. */
      createdAt: string
    }
  }
  /** Read a user. */
  'GET /users/:id': {
    path: {
      id: string
    }
    query: undefined
    body: undefined
    answer: {
      /** The user. */
      id: string
      name: string
      /** What they may do; `api` logs in to send. */
      role: 'administrator' | 'supervisor' | 'attendant' | 'viewer' | 'api'
      disabledAt: string | null
      /** When the user was made. */
      createdAt: string
    }
  }
  /** Change a user. */
  'PATCH /users/:id': {
    path: {
      id: string
    }
    query: undefined
    body: {
      /** How they sign in. */
      name?: string | null
      /** What they may do. */
      role?: 'administrator' | 'supervisor' | 'attendant' | 'viewer' | 'api' | null
      /** Cannot sign in or send. */
      isDisabled?: boolean | null
    }
    answer: {
      /** The user. */
      id: string
      name: string
      /** What they may do; `api` logs in to send. */
      role: 'administrator' | 'supervisor' | 'attendant' | 'viewer' | 'api'
      disabledAt: string | null
      /** When the user was made. */
      createdAt: string
    }
  }
  /** How a user comes in. */
  'GET /users/:id/access': {
    path: {
      id: string
    }
    query: undefined
    body: undefined
    answer: {
      hasSecondFactor: boolean
      /** Where they are signed in now. */
      sessions: number
      lastSeenAt: string | null
      tokenIssuedAt: string | null
      tokenExpiresAt: string | null
    }
  }
  /** Set the password of a user. */
  'POST /users/:id/password': {
    path: {
      id: string
    }
    query: undefined
    body: {
      /** At least 8 characters. */
      password: string
    }
    answer: undefined
  }
  /** Remove a user's second factor. */
  'DELETE /users/:id/totp': {
    path: {
      id: string
    }
    query: undefined
    body: undefined
    answer: undefined
  }
  /** Sign a user out everywhere. */
  'DELETE /users/:id/sessions': {
    path: {
      id: string
    }
    query: undefined
    body: undefined
    answer: {
      ended: number
    }
  }
  /** End an API user's token. */
  'DELETE /users/:id/token': {
    path: {
      id: string
    }
    query: undefined
    body: undefined
    answer: undefined
  }
  /** List segments. */
  'GET /segments': {
    path: undefined
    query: {
      cursor?: string
      limit?: number
      q?: string
      sort?: 'name' | 'createdAt'
      order?: 'asc' | 'desc'
    }
    body: undefined
    answer: {
      items: {
        /** The segment. */
        id: string
        name: string
        clientCode: string | null
      }[]
      nextCursor: string | null
    }
  }
  /** Create a segment. */
  'POST /segments': {
    path: undefined
    query: undefined
    body: {
      /** Its name. */
      name: string
      /** How callers name it. */
      clientCode?: string | null
    }
    answer: {
      /** The segment. */
      id: string
      name: string
      clientCode: string | null
    }
  }
  /** Read a segment. */
  'GET /segments/:id': {
    path: {
      id: string
    }
    query: undefined
    body: undefined
    answer: {
      /** The segment. */
      id: string
      name: string
      clientCode: string | null
    }
  }
  /** Change a segment. */
  'PATCH /segments/:id': {
    path: {
      id: string
    }
    query: undefined
    body: {
      /** Its name. */
      name?: string | null
      /** How callers name it. */
      clientCode?: string | null
    }
    answer: {
      /** The segment. */
      id: string
      name: string
      clientCode: string | null
    }
  }
  /** Remove a segment. */
  'DELETE /segments/:id': {
    path: {
      id: string
    }
    query: undefined
    body: undefined
    answer: undefined
  }
  /** List drivers with the schema of their settings. */
  'GET /drivers': {
    path: undefined
    query: undefined
    body: undefined
    answer: {
      items: {
        name: string
        title: string
        /** The channel. */
        channel: 'email' | 'sms' | 'whatsapp'
        /** A JSON schema; `isSecret` marks what is never returned. */
        settings: Record<string, unknown>
        /** The provider reports to `hookPath` of the line. */
        hasHook: boolean
      }[]
    }
  }
  /** List lines. */
  'GET /lines': {
    path: undefined
    query: {
      cursor?: string
      limit?: number
      q?: string
      sort?: 'channel' | 'name' | 'createdAt'
      order?: 'asc' | 'desc'
      channel?: 'email' | 'sms' | 'whatsapp'
    }
    body: undefined
    answer: {
      items: {
        /** The line. */
        id: string
        name: string
        /** The channel. */
        channel: 'email' | 'sms' | 'whatsapp'
        countryCode: number | null
        phoneNumber: number | null
        email: string | null
        driver: string
        /** Without secrets. */
        settings: Record<string, unknown>
        /** Names of the secrets that are set. */
        secrets: string[]
        isDefault: boolean
        isPaused: boolean
        pausedReason: string | null
        /** Where the provider reports to, below the public address. */
        hookPath: string
        hookUrl: string | null
        /** Messages per second. */
        ratePerSecond?: number | null
        /** Messages under way at once. */
        inFlightLimit?: number | null
        /** Segments that it serves; none: all. */
        segmentIds?: string[] | null
        /** Where messages go when this line cannot send, in order. */
        failoverLineIds?: string[] | null
        /** May be drawn for prospects. */
        isProspect?: boolean | null
        /** Off: it is as if it were not there. */
        isEnabled?: boolean | null
      }[]
      nextCursor: string | null
    }
  }
  /** Create a line. */
  'POST /lines': {
    path: undefined
    query: undefined
    body: {
      /** Its name. */
      name: string
      /** What talks to the provider. */
      driver: 'smtp' | 'smpp' | 'sms-http' | 'twilio' | 'whatsapp-cloud'
      /** Of an SMS or WhatsApp line. */
      countryCode?: number | null
      /** Of an SMS or WhatsApp line, with area code. */
      phoneNumber?: number | null
      /** Of an e-mail line. */
      email?: string | null
      /** Messages per second. */
      ratePerSecond?: number | null
      /** Messages under way at once. */
      inFlightLimit?: number | null
      /** Segments that it serves; none: all. */
      segmentIds?: string[] | null
      /** Where messages go when this line cannot send, in order. */
      failoverLineIds?: string[] | null
      /** May be drawn for prospects. */
      isProspect?: boolean | null
      /** Off: it is as if it were not there. */
      isEnabled?: boolean | null
    }
    answer: {
      /** The line. */
      id: string
      name: string
      /** The channel. */
      channel: 'email' | 'sms' | 'whatsapp'
      countryCode: number | null
      phoneNumber: number | null
      email: string | null
      driver: string
      /** Without secrets. */
      settings: Record<string, unknown>
      /** Names of the secrets that are set. */
      secrets: string[]
      isDefault: boolean
      isPaused: boolean
      pausedReason: string | null
      /** Where the provider reports to, below the public address. */
      hookPath: string
      hookUrl: string | null
      /** Messages per second. */
      ratePerSecond?: number | null
      /** Messages under way at once. */
      inFlightLimit?: number | null
      /** Segments that it serves; none: all. */
      segmentIds?: string[] | null
      /** Where messages go when this line cannot send, in order. */
      failoverLineIds?: string[] | null
      /** May be drawn for prospects. */
      isProspect?: boolean | null
      /** Off: it is as if it were not there. */
      isEnabled?: boolean | null
    }
  }
  /** Read a line. */
  'GET /lines/:id': {
    path: {
      id: string
    }
    query: undefined
    body: undefined
    answer: {
      /** The line. */
      id: string
      name: string
      /** The channel. */
      channel: 'email' | 'sms' | 'whatsapp'
      countryCode: number | null
      phoneNumber: number | null
      email: string | null
      driver: string
      /** Without secrets. */
      settings: Record<string, unknown>
      /** Names of the secrets that are set. */
      secrets: string[]
      isDefault: boolean
      isPaused: boolean
      pausedReason: string | null
      /** Where the provider reports to, below the public address. */
      hookPath: string
      hookUrl: string | null
      /** Messages per second. */
      ratePerSecond?: number | null
      /** Messages under way at once. */
      inFlightLimit?: number | null
      /** Segments that it serves; none: all. */
      segmentIds?: string[] | null
      /** Where messages go when this line cannot send, in order. */
      failoverLineIds?: string[] | null
      /** May be drawn for prospects. */
      isProspect?: boolean | null
      /** Off: it is as if it were not there. */
      isEnabled?: boolean | null
    }
  }
  /** Change a line. */
  'PATCH /lines/:id': {
    path: {
      id: string
    }
    query: undefined
    body: {
      /** Its name. */
      name?: string | null
      /** Messages per second. */
      ratePerSecond?: number | null
      /** Messages under way at once. */
      inFlightLimit?: number | null
      /** Segments that it serves; none: all. */
      segmentIds?: string[] | null
      /** Where messages go when this line cannot send, in order. */
      failoverLineIds?: string[] | null
      /** May be drawn for prospects. */
      isProspect?: boolean | null
      /** Off: it is as if it were not there. */
      isEnabled?: boolean | null
    }
    answer: {
      /** The line. */
      id: string
      name: string
      /** The channel. */
      channel: 'email' | 'sms' | 'whatsapp'
      countryCode: number | null
      phoneNumber: number | null
      email: string | null
      driver: string
      /** Without secrets. */
      settings: Record<string, unknown>
      /** Names of the secrets that are set. */
      secrets: string[]
      isDefault: boolean
      isPaused: boolean
      pausedReason: string | null
      /** Where the provider reports to, below the public address. */
      hookPath: string
      hookUrl: string | null
      /** Messages per second. */
      ratePerSecond?: number | null
      /** Messages under way at once. */
      inFlightLimit?: number | null
      /** Segments that it serves; none: all. */
      segmentIds?: string[] | null
      /** Where messages go when this line cannot send, in order. */
      failoverLineIds?: string[] | null
      /** May be drawn for prospects. */
      isProspect?: boolean | null
      /** Off: it is as if it were not there. */
      isEnabled?: boolean | null
    }
  }
  /** Remove a line. */
  'DELETE /lines/:id': {
    path: {
      id: string
    }
    query: undefined
    body: undefined
    answer: undefined
  }
  /** Pause a line. */
  'POST /lines/:id/pause': {
    path: {
      id: string
    }
    query: undefined
    body: {
      /** For the others. */
      reason?: string | null
    }
    answer: {
      /** The line. */
      id: string
      name: string
      /** The channel. */
      channel: 'email' | 'sms' | 'whatsapp'
      countryCode: number | null
      phoneNumber: number | null
      email: string | null
      driver: string
      /** Without secrets. */
      settings: Record<string, unknown>
      /** Names of the secrets that are set. */
      secrets: string[]
      isDefault: boolean
      isPaused: boolean
      pausedReason: string | null
      /** Where the provider reports to, below the public address. */
      hookPath: string
      hookUrl: string | null
      /** Messages per second. */
      ratePerSecond?: number | null
      /** Messages under way at once. */
      inFlightLimit?: number | null
      /** Segments that it serves; none: all. */
      segmentIds?: string[] | null
      /** Where messages go when this line cannot send, in order. */
      failoverLineIds?: string[] | null
      /** May be drawn for prospects. */
      isProspect?: boolean | null
      /** Off: it is as if it were not there. */
      isEnabled?: boolean | null
    }
  }
  /** Resume a line. */
  'POST /lines/:id/resume': {
    path: {
      id: string
    }
    query: undefined
    body: undefined
    answer: {
      /** The line. */
      id: string
      name: string
      /** The channel. */
      channel: 'email' | 'sms' | 'whatsapp'
      countryCode: number | null
      phoneNumber: number | null
      email: string | null
      driver: string
      /** Without secrets. */
      settings: Record<string, unknown>
      /** Names of the secrets that are set. */
      secrets: string[]
      isDefault: boolean
      isPaused: boolean
      pausedReason: string | null
      /** Where the provider reports to, below the public address. */
      hookPath: string
      hookUrl: string | null
      /** Messages per second. */
      ratePerSecond?: number | null
      /** Messages under way at once. */
      inFlightLimit?: number | null
      /** Segments that it serves; none: all. */
      segmentIds?: string[] | null
      /** Where messages go when this line cannot send, in order. */
      failoverLineIds?: string[] | null
      /** May be drawn for prospects. */
      isProspect?: boolean | null
      /** Off: it is as if it were not there. */
      isEnabled?: boolean | null
    }
  }
  /** Make a line the default of its channel. */
  'POST /lines/:id/default': {
    path: {
      id: string
    }
    query: undefined
    body: undefined
    answer: {
      /** The line. */
      id: string
      name: string
      /** The channel. */
      channel: 'email' | 'sms' | 'whatsapp'
      countryCode: number | null
      phoneNumber: number | null
      email: string | null
      driver: string
      /** Without secrets. */
      settings: Record<string, unknown>
      /** Names of the secrets that are set. */
      secrets: string[]
      isDefault: boolean
      isPaused: boolean
      pausedReason: string | null
      /** Where the provider reports to, below the public address. */
      hookPath: string
      hookUrl: string | null
      /** Messages per second. */
      ratePerSecond?: number | null
      /** Messages under way at once. */
      inFlightLimit?: number | null
      /** Segments that it serves; none: all. */
      segmentIds?: string[] | null
      /** Where messages go when this line cannot send, in order. */
      failoverLineIds?: string[] | null
      /** May be drawn for prospects. */
      isProspect?: boolean | null
      /** Off: it is as if it were not there. */
      isEnabled?: boolean | null
    }
  }
  /** Send a real message over this line. */
  'POST /lines/:id/test': {
    path: {
      id: string
    }
    query: undefined
    body: {
      /** Number with country code, or e-mail address. */
      recipient: string
      /** Free text. */
      text?: string | null
      /** Of an e-mail. */
      subject?: string | null
      /** A template instead of text. */
      templateCode?: string | null
      variables?: Record<string, string> | null
      /** How long to wait; 0 answers with the id at once. 15 unless told otherwise. */
      waitSeconds?: number | null
    }
    answer: {
      messageId: string
      /** `queued` when nothing came of it yet. */
      state: string
      waiting: Record<string, unknown> | null
      error: Record<string, unknown> | null
      /** Attempts with the exchange, as in the timeline. */
      events: Record<string, unknown>[]
    }
  }
  /** List templates. */
  'GET /templates': {
    path: undefined
    query: {
      cursor?: string
      limit?: number
      q?: string
      sort?: 'name' | 'code' | 'createdAt'
      order?: 'asc' | 'desc'
      channel?: 'email' | 'sms' | 'whatsapp'
      kind?: 'text' | 'carousel' | 'verification'
      approval?: 'approved' | 'pending' | 'rejected' | 'paused' | 'disabled'
      isEnabled?: boolean
    }
    body: undefined
    answer: {
      items: {
        /** The template. */
        id: string
        /** Its name. */
        name: string
        /** Its code. */
        code: string
        content: {
          /** E-mail only. */
          subject?: string | null
          header?: {
            /** WhatsApp only. */
            kind: 'text' | 'image' | 'video' | 'document'
            /** Of a text header. */
            text?: string | null
          } | null
          /** The text, with variables written @Name. */
          body: string
          /** WhatsApp only. */
          footer?: string | null
          /** WhatsApp only. */
          buttons?: {
            /** What it does. */
            kind: 'quick_reply' | 'url' | 'phone' | 'code'
            /** What is on it. */
            text: string
            /** Of a button that opens an address; may end in one variable. */
            url?: string | null
            /** Of a button that calls a number. */
            phone?: string | null
            /** Of the button that copies a code: @Code. */
            value?: string | null
          }[] | null
          /** Of a carousel, in order. */
          cards?: {
            /** The text of the card. */
            body?: string | null
            /** Of the card. */
            buttons?: {
              /** What it does. */
              kind: 'quick_reply' | 'url' | 'phone' | 'code'
              /** What is on it. */
              text: string
              /** Of a button that opens an address; may end in one variable. */
              url?: string | null
              /** Of a button that calls a number. */
              phone?: string | null
              /** Of the button that copies a code: @Code. */
              value?: string | null
            }[] | null
          }[] | null
          /** Of a verification template of WhatsApp: how long the code is good for. */
          codeExpiryMinutes?: number | null
          /** Variables that are replaced. */
          variables?: string[] | null
          provider?: {
            /** As WhatsApp knows the template. */
            name: string
            /** Like en or pt_BR. */
            language: string
            /** How parameters are given. */
            parameterFormat?: 'positional' | 'named' | null
            /** As WhatsApp knows it. */
            category?: 'marketing' | 'utility' | 'authentication' | null
          } | null
        }
        /** The channel. */
        channel: 'email' | 'sms' | 'whatsapp'
        /** What it is. */
        kind: 'text' | 'carousel' | 'verification'
        isEnabled: boolean
        /** The provider's word. */
        approval: 'approved' | 'pending' | 'rejected' | 'paused' | 'disabled'
        approvalReason: string | null
      }[]
      nextCursor: string | null
    }
  }
  /** Create a template. */
  'POST /templates': {
    path: undefined
    query: undefined
    body: {
      /** Its name. */
      name: string
      /** Its code. */
      code: string
      content: {
        /** E-mail only. */
        subject?: string | null
        header?: {
          /** WhatsApp only. */
          kind: 'text' | 'image' | 'video' | 'document'
          /** Of a text header. */
          text?: string | null
        } | null
        /** The text, with variables written @Name. */
        body: string
        /** WhatsApp only. */
        footer?: string | null
        /** WhatsApp only. */
        buttons?: {
          /** What it does. */
          kind: 'quick_reply' | 'url' | 'phone' | 'code'
          /** What is on it. */
          text: string
          /** Of a button that opens an address; may end in one variable. */
          url?: string | null
          /** Of a button that calls a number. */
          phone?: string | null
          /** Of the button that copies a code: @Code. */
          value?: string | null
        }[] | null
        /** Of a carousel, in order. */
        cards?: {
          /** The text of the card. */
          body?: string | null
          /** Of the card. */
          buttons?: {
            /** What it does. */
            kind: 'quick_reply' | 'url' | 'phone' | 'code'
            /** What is on it. */
            text: string
            /** Of a button that opens an address; may end in one variable. */
            url?: string | null
            /** Of a button that calls a number. */
            phone?: string | null
            /** Of the button that copies a code: @Code. */
            value?: string | null
          }[] | null
        }[] | null
        /** Of a verification template of WhatsApp: how long the code is good for. */
        codeExpiryMinutes?: number | null
        /** Variables that are replaced. */
        variables?: string[] | null
        provider?: {
          /** As WhatsApp knows the template. */
          name: string
          /** Like en or pt_BR. */
          language: string
          /** How parameters are given. */
          parameterFormat?: 'positional' | 'named' | null
          /** As WhatsApp knows it. */
          category?: 'marketing' | 'utility' | 'authentication' | null
        } | null
      }
      /** The channel. */
      channel: 'email' | 'sms' | 'whatsapp'
      /** What it is. */
      kind: 'text' | 'carousel' | 'verification'
      /** May be sent. */
      isEnabled?: boolean | null
      /** When the provider has decided already. */
      approval?: 'approved' | 'pending' | 'rejected' | 'paused' | 'disabled' | null
    }
    answer: {
      /** The template. */
      id: string
      /** Its name. */
      name: string
      /** Its code. */
      code: string
      content: {
        /** E-mail only. */
        subject?: string | null
        header?: {
          /** WhatsApp only. */
          kind: 'text' | 'image' | 'video' | 'document'
          /** Of a text header. */
          text?: string | null
        } | null
        /** The text, with variables written @Name. */
        body: string
        /** WhatsApp only. */
        footer?: string | null
        /** WhatsApp only. */
        buttons?: {
          /** What it does. */
          kind: 'quick_reply' | 'url' | 'phone' | 'code'
          /** What is on it. */
          text: string
          /** Of a button that opens an address; may end in one variable. */
          url?: string | null
          /** Of a button that calls a number. */
          phone?: string | null
          /** Of the button that copies a code: @Code. */
          value?: string | null
        }[] | null
        /** Of a carousel, in order. */
        cards?: {
          /** The text of the card. */
          body?: string | null
          /** Of the card. */
          buttons?: {
            /** What it does. */
            kind: 'quick_reply' | 'url' | 'phone' | 'code'
            /** What is on it. */
            text: string
            /** Of a button that opens an address; may end in one variable. */
            url?: string | null
            /** Of a button that calls a number. */
            phone?: string | null
            /** Of the button that copies a code: @Code. */
            value?: string | null
          }[] | null
        }[] | null
        /** Of a verification template of WhatsApp: how long the code is good for. */
        codeExpiryMinutes?: number | null
        /** Variables that are replaced. */
        variables?: string[] | null
        provider?: {
          /** As WhatsApp knows the template. */
          name: string
          /** Like en or pt_BR. */
          language: string
          /** How parameters are given. */
          parameterFormat?: 'positional' | 'named' | null
          /** As WhatsApp knows it. */
          category?: 'marketing' | 'utility' | 'authentication' | null
        } | null
      }
      /** The channel. */
      channel: 'email' | 'sms' | 'whatsapp'
      /** What it is. */
      kind: 'text' | 'carousel' | 'verification'
      isEnabled: boolean
      /** The provider's word. */
      approval: 'approved' | 'pending' | 'rejected' | 'paused' | 'disabled'
      approvalReason: string | null
    }
  }
  /** Read a template. */
  'GET /templates/:id': {
    path: {
      id: string
    }
    query: undefined
    body: undefined
    answer: {
      /** The template. */
      id: string
      /** Its name. */
      name: string
      /** Its code. */
      code: string
      content: {
        /** E-mail only. */
        subject?: string | null
        header?: {
          /** WhatsApp only. */
          kind: 'text' | 'image' | 'video' | 'document'
          /** Of a text header. */
          text?: string | null
        } | null
        /** The text, with variables written @Name. */
        body: string
        /** WhatsApp only. */
        footer?: string | null
        /** WhatsApp only. */
        buttons?: {
          /** What it does. */
          kind: 'quick_reply' | 'url' | 'phone' | 'code'
          /** What is on it. */
          text: string
          /** Of a button that opens an address; may end in one variable. */
          url?: string | null
          /** Of a button that calls a number. */
          phone?: string | null
          /** Of the button that copies a code: @Code. */
          value?: string | null
        }[] | null
        /** Of a carousel, in order. */
        cards?: {
          /** The text of the card. */
          body?: string | null
          /** Of the card. */
          buttons?: {
            /** What it does. */
            kind: 'quick_reply' | 'url' | 'phone' | 'code'
            /** What is on it. */
            text: string
            /** Of a button that opens an address; may end in one variable. */
            url?: string | null
            /** Of a button that calls a number. */
            phone?: string | null
            /** Of the button that copies a code: @Code. */
            value?: string | null
          }[] | null
        }[] | null
        /** Of a verification template of WhatsApp: how long the code is good for. */
        codeExpiryMinutes?: number | null
        /** Variables that are replaced. */
        variables?: string[] | null
        provider?: {
          /** As WhatsApp knows the template. */
          name: string
          /** Like en or pt_BR. */
          language: string
          /** How parameters are given. */
          parameterFormat?: 'positional' | 'named' | null
          /** As WhatsApp knows it. */
          category?: 'marketing' | 'utility' | 'authentication' | null
        } | null
      }
      /** The channel. */
      channel: 'email' | 'sms' | 'whatsapp'
      /** What it is. */
      kind: 'text' | 'carousel' | 'verification'
      isEnabled: boolean
      /** The provider's word. */
      approval: 'approved' | 'pending' | 'rejected' | 'paused' | 'disabled'
      approvalReason: string | null
    }
  }
  /** Replace name, code and content of a template. */
  'PUT /templates/:id': {
    path: {
      id: string
    }
    query: undefined
    body: {
      /** Its name. */
      name: string
      /** Its code. */
      code: string
      content: {
        /** E-mail only. */
        subject?: string | null
        header?: {
          /** WhatsApp only. */
          kind: 'text' | 'image' | 'video' | 'document'
          /** Of a text header. */
          text?: string | null
        } | null
        /** The text, with variables written @Name. */
        body: string
        /** WhatsApp only. */
        footer?: string | null
        /** WhatsApp only. */
        buttons?: {
          /** What it does. */
          kind: 'quick_reply' | 'url' | 'phone' | 'code'
          /** What is on it. */
          text: string
          /** Of a button that opens an address; may end in one variable. */
          url?: string | null
          /** Of a button that calls a number. */
          phone?: string | null
          /** Of the button that copies a code: @Code. */
          value?: string | null
        }[] | null
        /** Of a carousel, in order. */
        cards?: {
          /** The text of the card. */
          body?: string | null
          /** Of the card. */
          buttons?: {
            /** What it does. */
            kind: 'quick_reply' | 'url' | 'phone' | 'code'
            /** What is on it. */
            text: string
            /** Of a button that opens an address; may end in one variable. */
            url?: string | null
            /** Of a button that calls a number. */
            phone?: string | null
            /** Of the button that copies a code: @Code. */
            value?: string | null
          }[] | null
        }[] | null
        /** Of a verification template of WhatsApp: how long the code is good for. */
        codeExpiryMinutes?: number | null
        /** Variables that are replaced. */
        variables?: string[] | null
        provider?: {
          /** As WhatsApp knows the template. */
          name: string
          /** Like en or pt_BR. */
          language: string
          /** How parameters are given. */
          parameterFormat?: 'positional' | 'named' | null
          /** As WhatsApp knows it. */
          category?: 'marketing' | 'utility' | 'authentication' | null
        } | null
      }
    }
    answer: {
      /** The template. */
      id: string
      /** Its name. */
      name: string
      /** Its code. */
      code: string
      content: {
        /** E-mail only. */
        subject?: string | null
        header?: {
          /** WhatsApp only. */
          kind: 'text' | 'image' | 'video' | 'document'
          /** Of a text header. */
          text?: string | null
        } | null
        /** The text, with variables written @Name. */
        body: string
        /** WhatsApp only. */
        footer?: string | null
        /** WhatsApp only. */
        buttons?: {
          /** What it does. */
          kind: 'quick_reply' | 'url' | 'phone' | 'code'
          /** What is on it. */
          text: string
          /** Of a button that opens an address; may end in one variable. */
          url?: string | null
          /** Of a button that calls a number. */
          phone?: string | null
          /** Of the button that copies a code: @Code. */
          value?: string | null
        }[] | null
        /** Of a carousel, in order. */
        cards?: {
          /** The text of the card. */
          body?: string | null
          /** Of the card. */
          buttons?: {
            /** What it does. */
            kind: 'quick_reply' | 'url' | 'phone' | 'code'
            /** What is on it. */
            text: string
            /** Of a button that opens an address; may end in one variable. */
            url?: string | null
            /** Of a button that calls a number. */
            phone?: string | null
            /** Of the button that copies a code: @Code. */
            value?: string | null
          }[] | null
        }[] | null
        /** Of a verification template of WhatsApp: how long the code is good for. */
        codeExpiryMinutes?: number | null
        /** Variables that are replaced. */
        variables?: string[] | null
        provider?: {
          /** As WhatsApp knows the template. */
          name: string
          /** Like en or pt_BR. */
          language: string
          /** How parameters are given. */
          parameterFormat?: 'positional' | 'named' | null
          /** As WhatsApp knows it. */
          category?: 'marketing' | 'utility' | 'authentication' | null
        } | null
      }
      /** The channel. */
      channel: 'email' | 'sms' | 'whatsapp'
      /** What it is. */
      kind: 'text' | 'carousel' | 'verification'
      isEnabled: boolean
      /** The provider's word. */
      approval: 'approved' | 'pending' | 'rejected' | 'paused' | 'disabled'
      approvalReason: string | null
    }
  }
  /** Switch a template on or off, or set its approval. */
  'PATCH /templates/:id': {
    path: {
      id: string
    }
    query: undefined
    body: {
      /** May be sent. */
      isEnabled?: boolean | null
      /** The provider's word. */
      approval?: 'approved' | 'pending' | 'rejected' | 'paused' | 'disabled' | null
    }
    answer: {
      /** The template. */
      id: string
      /** Its name. */
      name: string
      /** Its code. */
      code: string
      content: {
        /** E-mail only. */
        subject?: string | null
        header?: {
          /** WhatsApp only. */
          kind: 'text' | 'image' | 'video' | 'document'
          /** Of a text header. */
          text?: string | null
        } | null
        /** The text, with variables written @Name. */
        body: string
        /** WhatsApp only. */
        footer?: string | null
        /** WhatsApp only. */
        buttons?: {
          /** What it does. */
          kind: 'quick_reply' | 'url' | 'phone' | 'code'
          /** What is on it. */
          text: string
          /** Of a button that opens an address; may end in one variable. */
          url?: string | null
          /** Of a button that calls a number. */
          phone?: string | null
          /** Of the button that copies a code: @Code. */
          value?: string | null
        }[] | null
        /** Of a carousel, in order. */
        cards?: {
          /** The text of the card. */
          body?: string | null
          /** Of the card. */
          buttons?: {
            /** What it does. */
            kind: 'quick_reply' | 'url' | 'phone' | 'code'
            /** What is on it. */
            text: string
            /** Of a button that opens an address; may end in one variable. */
            url?: string | null
            /** Of a button that calls a number. */
            phone?: string | null
            /** Of the button that copies a code: @Code. */
            value?: string | null
          }[] | null
        }[] | null
        /** Of a verification template of WhatsApp: how long the code is good for. */
        codeExpiryMinutes?: number | null
        /** Variables that are replaced. */
        variables?: string[] | null
        provider?: {
          /** As WhatsApp knows the template. */
          name: string
          /** Like en or pt_BR. */
          language: string
          /** How parameters are given. */
          parameterFormat?: 'positional' | 'named' | null
          /** As WhatsApp knows it. */
          category?: 'marketing' | 'utility' | 'authentication' | null
        } | null
      }
      /** The channel. */
      channel: 'email' | 'sms' | 'whatsapp'
      /** What it is. */
      kind: 'text' | 'carousel' | 'verification'
      isEnabled: boolean
      /** The provider's word. */
      approval: 'approved' | 'pending' | 'rejected' | 'paused' | 'disabled'
      approvalReason: string | null
    }
  }
  /** Remove a template. */
  'DELETE /templates/:id': {
    path: {
      id: string
    }
    query: undefined
    body: undefined
    answer: undefined
  }
  /** Check a template and show it filled. */
  'POST /templates/preview': {
    path: undefined
    query: undefined
    body: {
      /** Its name. */
      name: string
      /** Its code. */
      code: string
      content: {
        /** E-mail only. */
        subject?: string | null
        header?: {
          /** WhatsApp only. */
          kind: 'text' | 'image' | 'video' | 'document'
          /** Of a text header. */
          text?: string | null
        } | null
        /** The text, with variables written @Name. */
        body: string
        /** WhatsApp only. */
        footer?: string | null
        /** WhatsApp only. */
        buttons?: {
          /** What it does. */
          kind: 'quick_reply' | 'url' | 'phone' | 'code'
          /** What is on it. */
          text: string
          /** Of a button that opens an address; may end in one variable. */
          url?: string | null
          /** Of a button that calls a number. */
          phone?: string | null
          /** Of the button that copies a code: @Code. */
          value?: string | null
        }[] | null
        /** Of a carousel, in order. */
        cards?: {
          /** The text of the card. */
          body?: string | null
          /** Of the card. */
          buttons?: {
            /** What it does. */
            kind: 'quick_reply' | 'url' | 'phone' | 'code'
            /** What is on it. */
            text: string
            /** Of a button that opens an address; may end in one variable. */
            url?: string | null
            /** Of a button that calls a number. */
            phone?: string | null
            /** Of the button that copies a code: @Code. */
            value?: string | null
          }[] | null
        }[] | null
        /** Of a verification template of WhatsApp: how long the code is good for. */
        codeExpiryMinutes?: number | null
        /** Variables that are replaced. */
        variables?: string[] | null
        provider?: {
          /** As WhatsApp knows the template. */
          name: string
          /** Like en or pt_BR. */
          language: string
          /** How parameters are given. */
          parameterFormat?: 'positional' | 'named' | null
          /** As WhatsApp knows it. */
          category?: 'marketing' | 'utility' | 'authentication' | null
        } | null
      }
      /** The channel. */
      channel: 'email' | 'sms' | 'whatsapp'
      /** What it is. */
      kind: 'text' | 'carousel' | 'verification'
      variables?: Record<string, string> | null
    }
    answer: {
      problems: {
        field: string
        message: string
      }[]
      rendered: Record<string, unknown> | null
      sms: Record<string, unknown> | null
    }
  }
  /** Ask the provider where its templates stand. */
  'POST /templates/refresh': {
    path: undefined
    query: undefined
    body: undefined
    answer: {
      /** Templates that the provider has. */
      known: number
    }
  }
  /** Hand a WhatsApp template to the provider for approval. */
  'POST /templates/:id/submit': {
    path: {
      id: string
    }
    query: undefined
    body: undefined
    answer: {
      /** The template. */
      id: string
      /** Its name. */
      name: string
      /** Its code. */
      code: string
      content: {
        /** E-mail only. */
        subject?: string | null
        header?: {
          /** WhatsApp only. */
          kind: 'text' | 'image' | 'video' | 'document'
          /** Of a text header. */
          text?: string | null
        } | null
        /** The text, with variables written @Name. */
        body: string
        /** WhatsApp only. */
        footer?: string | null
        /** WhatsApp only. */
        buttons?: {
          /** What it does. */
          kind: 'quick_reply' | 'url' | 'phone' | 'code'
          /** What is on it. */
          text: string
          /** Of a button that opens an address; may end in one variable. */
          url?: string | null
          /** Of a button that calls a number. */
          phone?: string | null
          /** Of the button that copies a code: @Code. */
          value?: string | null
        }[] | null
        /** Of a carousel, in order. */
        cards?: {
          /** The text of the card. */
          body?: string | null
          /** Of the card. */
          buttons?: {
            /** What it does. */
            kind: 'quick_reply' | 'url' | 'phone' | 'code'
            /** What is on it. */
            text: string
            /** Of a button that opens an address; may end in one variable. */
            url?: string | null
            /** Of a button that calls a number. */
            phone?: string | null
            /** Of the button that copies a code: @Code. */
            value?: string | null
          }[] | null
        }[] | null
        /** Of a verification template of WhatsApp: how long the code is good for. */
        codeExpiryMinutes?: number | null
        /** Variables that are replaced. */
        variables?: string[] | null
        provider?: {
          /** As WhatsApp knows the template. */
          name: string
          /** Like en or pt_BR. */
          language: string
          /** How parameters are given. */
          parameterFormat?: 'positional' | 'named' | null
          /** As WhatsApp knows it. */
          category?: 'marketing' | 'utility' | 'authentication' | null
        } | null
      }
      /** The channel. */
      channel: 'email' | 'sms' | 'whatsapp'
      /** What it is. */
      kind: 'text' | 'carousel' | 'verification'
      isEnabled: boolean
      /** The provider's word. */
      approval: 'approved' | 'pending' | 'rejected' | 'paused' | 'disabled'
      approvalReason: string | null
    }
  }
  /** Send a template to one recipient. */
  'POST /templates/:id/test': {
    path: {
      id: string
    }
    query: undefined
    body: {
      /** Number with country code, or e-mail address. */
      recipient: string
      /** Over this line; without it, the one that would be chosen. */
      lineId?: string | null
      variables?: Record<string, string> | null
      /** The file of a media header or of an e-mail, or the pictures of a carousel in order. */
      mediaIds?: string[] | null
      /** How long to wait; 0 answers with the id at once. 15 unless told otherwise. */
      waitSeconds?: number | null
      /** SMS only: shown at once and not kept by the phone. */
      isFlash?: boolean | null
    }
    answer: {
      messageId: string
      /** `queued` when nothing came of it yet. */
      state: string
      waiting: Record<string, unknown> | null
      error: Record<string, unknown> | null
      /** Attempts with the exchange, as in the timeline. */
      events: Record<string, unknown>[]
    }
  }
  /** List the media library. */
  'GET /media': {
    path: undefined
    query: {
      cursor?: string
      limit?: number
      q?: string
      sort?: 'createdAt' | 'name'
      order?: 'asc' | 'desc'
      kind?: 'image' | 'video' | 'document'
    }
    body: undefined
    answer: {
      items: {
        /** The item. */
        id: string
        name: string
        mimeType: string
        size: number
        /** As callers name it; with its extension. */
        url: string
      }[]
      nextCursor: string | null
    }
  }
  /** Add a file to the media library. */
  'POST /media': {
    path: undefined
    query: {
      name: string
    }
    body: undefined
    answer: {
      /** The item. */
      id: string
      name: string
      mimeType: string
      size: number
      /** As callers name it; with its extension. */
      url: string
    }
  }
  /** Read an item of the media library. */
  'GET /media/:id': {
    path: {
      id: string
    }
    query: undefined
    body: undefined
    answer: {
      /** The item. */
      id: string
      name: string
      mimeType: string
      size: number
      /** As callers name it; with its extension. */
      url: string
      /** Templates whose text holds its address. */
      usedBy: {
        /** The template. */
        id: string
        name: string
      }[]
    }
  }
  /** Remove a file from the media library. */
  'DELETE /media/:id': {
    path: {
      id: string
    }
    query: undefined
    body: undefined
    answer: undefined
  }
  /** Search contacts. */
  'GET /contacts': {
    path: undefined
    query: {
      cursor?: string
      limit?: number
      q?: string
      segmentId?: string
    }
    body: undefined
    answer: {
      items: {
        /** The contact. */
        id: string
        phone: string | null
        email: string | null
        name: string | null
        taxId: string | null
        customCode: string | null
        tag: string | null
        jokers: (string | null)[]
        segmentId: string | null
        optedOutChannels: string[]
        marketingOptedOutAt: string | null
        emailBouncedAt: string | null
        lastInteractionAt: string | null
        /** Since when we know them. */
        createdAt: string
      }[]
      nextCursor: string | null
    }
  }
  /** Create a contact. */
  'POST /contacts': {
    path: undefined
    query: undefined
    body: {
      /** Digits with country code. */
      phone?: string | null
      /** E-mail address. */
      email?: string | null
      /** Name. */
      name?: string | null
      /** Tax identifier. */
      taxId?: string | null
      /** A code of your own. */
      customCode?: string | null
      /** A tag. */
      tag?: string | null
      /** Five free texts; the fifth may have 3000 characters. */
      jokers?: (string | null)[] | null
      /** The segment. */
      segmentId?: string | null
    }
    answer: {
      /** The contact. */
      id: string
      phone: string | null
      email: string | null
      name: string | null
      taxId: string | null
      customCode: string | null
      tag: string | null
      jokers: (string | null)[]
      segmentId: string | null
      optedOutChannels: string[]
      marketingOptedOutAt: string | null
      emailBouncedAt: string | null
      lastInteractionAt: string | null
      /** Since when we know them. */
      createdAt: string
    }
  }
  /** Read a contact with windows and attendance. */
  'GET /contacts/:id': {
    path: {
      id: string
    }
    query: undefined
    body: undefined
    answer: {
      /** The contact. */
      id: string
      phone: string | null
      email: string | null
      name: string | null
      taxId: string | null
      customCode: string | null
      tag: string | null
      jokers: (string | null)[]
      segmentId: string | null
      optedOutChannels: string[]
      marketingOptedOutAt: string | null
      emailBouncedAt: string | null
      lastInteractionAt: string | null
      /** Since when we know them. */
      createdAt: string
      windows: {
        /** A WhatsApp line that the person wrote to. */
        lineId: string
        /** When they wrote last. */
        receivedAt: string
        /** Until when free text may be sent. */
        closesAt: string
        isOpen: boolean
      }[]
      attendance: {
        /** The open attendance. */
        id: string
        /** Who attends. */
        userId: string
        /** Since when. */
        openedAt: string
        /** The last activity. */
        activeAt: string
      } | null
    }
  }
  /** Change a contact. */
  'PATCH /contacts/:id': {
    path: {
      id: string
    }
    query: undefined
    body: {
      /** Digits with country code. Empty: removes it. */
      phone?: string | null
      /** E-mail address. Empty: removes it. */
      email?: string | null
      /** Name. Empty: removes it. */
      name?: string | null
      /** Tax identifier. Empty: removes it. */
      taxId?: string | null
      /** A code of your own. Empty: removes it. */
      customCode?: string | null
      /** A tag. Empty: removes it. */
      tag?: string | null
      /** Five free texts; the fifth may have 3000 characters. */
      jokers?: (string | null)[] | null
      /** The segment. Empty: none. */
      segmentId?: string | null
      /** Channels that the person wants nothing on. */
      optedOutChannels?: ('email' | 'sms' | 'whatsapp')[] | null
      /** The person wants no marketing on WhatsApp. */
      isMarketingOptedOut?: boolean | null
    }
    answer: {
      /** The contact. */
      id: string
      phone: string | null
      email: string | null
      name: string | null
      taxId: string | null
      customCode: string | null
      tag: string | null
      jokers: (string | null)[]
      segmentId: string | null
      optedOutChannels: string[]
      marketingOptedOutAt: string | null
      emailBouncedAt: string | null
      lastInteractionAt: string | null
      /** Since when we know them. */
      createdAt: string
    }
  }
  /** Erase a person. */
  'DELETE /contacts/:id': {
    path: {
      id: string
    }
    query: undefined
    body: undefined
    answer: {
      /** How many messages were emptied. */
      messages: number
    }
  }
  /** Say that the mailbox of a contact exists after all. */
  'POST /contacts/:id/clear-bounce': {
    path: {
      id: string
    }
    query: undefined
    body: undefined
    answer: undefined
  }
  /** Everything that is stored about a person. */
  'POST /contacts/:id/export': {
    path: {
      id: string
    }
    query: undefined
    body: undefined
    answer: {
      contact: {
        /** The contact. */
        id: string
        phone: string | null
        email: string | null
        name: string | null
        taxId: string | null
        customCode: string | null
        tag: string | null
        jokers: (string | null)[]
        segmentId: string | null
        optedOutChannels: string[]
        marketingOptedOutAt: string | null
        emailBouncedAt: string | null
        lastInteractionAt: string | null
        /** Since when we know them. */
        createdAt: string
      }
      conversation: {
        /** To the person, or from them. */
        direction: 'out' | 'in'
        /** Of the message (`msg_…`) or the received message (`inb_…`). */
        id: string
        /** The channel. */
        channel: 'email' | 'sms' | 'whatsapp'
        lineId: string | null
        /** When it was accepted, or when the person wrote it. */
        at: string
        /** What the person reads, or wrote. */
        text: string
        subject: string | null
        /** The text is HTML of an e-mail. */
        isHtml: boolean
        files: {
          name: string | null
          mimeType: string
          size: number | null
          /** Stored ones are at `…/file?position=`. */
          state: 'stored' | 'pending' | 'failed' | 'elsewhere'
          url: string | null
        }[]
        state: 'queued' | 'sending' | 'sent' | 'delivered' | 'read' | 'failed' | 'expired' | 'unknown' | 'blocked' | 'not_sent' | null
        errorMessage: string | null
        author: string | null
        kind: string | null
        effect: 'opted_out' | 'opted_in' | null
      }[]
    }
  }
  /** Write to a contact. */
  'POST /contacts/:id/messages': {
    path: {
      id: string
    }
    query: undefined
    body: {
      /** The channel. */
      channel: 'email' | 'sms' | 'whatsapp'
      /** Free text. */
      text?: string | null
      /** Of an e-mail. */
      subject?: string | null
      /** A template instead of text. */
      templateCode?: string | null
      variables?: Record<string, string> | null
      /** The line; without it one with an open window, else the default. */
      lineId?: string | null
    }
    answer: {
      messageId: string
    }
  }
  /** What was said with a contact. */
  'GET /contacts/:id/conversation': {
    path: {
      id: string
    }
    query: {
      cursor?: string
      limit?: number
    }
    body: undefined
    answer: {
      items: {
        /** To the person, or from them. */
        direction: 'out' | 'in'
        /** Of the message (`msg_…`) or the received message (`inb_…`). */
        id: string
        /** The channel. */
        channel: 'email' | 'sms' | 'whatsapp'
        lineId: string | null
        /** When it was accepted, or when the person wrote it. */
        at: string
        /** What the person reads, or wrote. */
        text: string
        subject: string | null
        /** The text is HTML of an e-mail. */
        isHtml: boolean
        files: {
          name: string | null
          mimeType: string
          size: number | null
          /** Stored ones are at `…/file?position=`. */
          state: 'stored' | 'pending' | 'failed' | 'elsewhere'
          url: string | null
        }[]
        state: 'queued' | 'sending' | 'sent' | 'delivered' | 'read' | 'failed' | 'expired' | 'unknown' | 'blocked' | 'not_sent' | null
        errorMessage: string | null
        author: string | null
        kind: string | null
        effect: 'opted_out' | 'opted_in' | null
      }[]
      nextCursor: string | null
    }
  }
  /** A file of a message. */
  'GET /messages/:id/file': {
    path: {
      id: string
    }
    query: {
      position?: number
    }
    body: undefined
    answer: undefined
  }
  /** A file that a person sent. */
  'GET /received/:id/file': {
    path: {
      id: string
    }
    query: {
      position?: number
    }
    body: undefined
    answer: undefined
  }
  /** List attendances. */
  'GET /attendances': {
    path: undefined
    query: {
      cursor?: string
      limit?: number
      isOpen?: boolean
      userId?: string
      contactId?: string
    }
    body: undefined
    answer: {
      items: {
        /** The attendance. */
        id: string
        contact: {
          /** The contact. */
          id: string
          name: string | null
          phone: string | null
          email: string | null
        }
        user: {
          /** The attendant. */
          id: string
          name: string
        }
        /** Since when. */
        openedAt: string
        /** The last activity. */
        activeAt: string
        closedAt: string | null
        closedBy: string | null
        windowClosesAt: string | null
        lastWord: {
          /** The first 160 characters. */
          text: string
          /** When the person wrote it. */
          at: string
          /** Where they wrote to. */
          lineId: string
        } | null
        /** Nothing was sent to the person since their last word. */
        isUnanswered: boolean
      }[]
      nextCursor: string | null
    }
  }
  /** Open an attendance, or take one over. */
  'POST /attendances': {
    path: undefined
    query: undefined
    body: {
      /** Who is attended. */
      contactId: string
      /** The attendant; without it oneself. */
      userId?: string | null
    }
    answer: {
      /** The attendance. */
      id: string
      contact: {
        /** The contact. */
        id: string
        name: string | null
        phone: string | null
        email: string | null
      }
      user: {
        /** The attendant. */
        id: string
        name: string
      }
      /** Since when. */
      openedAt: string
      /** The last activity. */
      activeAt: string
      closedAt: string | null
      closedBy: string | null
      windowClosesAt: string | null
      lastWord: {
        /** The first 160 characters. */
        text: string
        /** When the person wrote it. */
        at: string
        /** Where they wrote to. */
        lineId: string
      } | null
      /** Nothing was sent to the person since their last word. */
      isUnanswered: boolean
    }
  }
  /** List people who wrote and are with nobody. */
  'GET /attendances/waiting': {
    path: undefined
    query: {
      cursor?: string
      limit?: number
    }
    body: undefined
    answer: {
      items: {
        contact: {
          /** The contact. */
          id: string
          name: string | null
          phone: string | null
          email: string | null
        }
        windowClosesAt: string | null
        lastWord: {
          /** The first 160 characters. */
          text: string
          /** When the person wrote it. */
          at: string
          /** Where they wrote to. */
          lineId: string
        }
      }[]
      nextCursor: string | null
    }
  }
  /** Read an attendance. */
  'GET /attendances/:id': {
    path: {
      id: string
    }
    query: undefined
    body: undefined
    answer: {
      /** The attendance. */
      id: string
      contact: {
        /** The contact. */
        id: string
        name: string | null
        phone: string | null
        email: string | null
      }
      user: {
        /** The attendant. */
        id: string
        name: string
      }
      /** Since when. */
      openedAt: string
      /** The last activity. */
      activeAt: string
      closedAt: string | null
      closedBy: string | null
      windowClosesAt: string | null
      lastWord: {
        /** The first 160 characters. */
        text: string
        /** When the person wrote it. */
        at: string
        /** Where they wrote to. */
        lineId: string
      } | null
      /** Nothing was sent to the person since their last word. */
      isUnanswered: boolean
    }
  }
  /** Hand an attendance over, or take it. */
  'POST /attendances/:id/hand-over': {
    path: {
      id: string
    }
    query: undefined
    body: {
      /** The attendant; without it oneself. */
      userId?: string | null
    }
    answer: {
      /** The attendance. */
      id: string
      contact: {
        /** The contact. */
        id: string
        name: string | null
        phone: string | null
        email: string | null
      }
      user: {
        /** The attendant. */
        id: string
        name: string
      }
      /** Since when. */
      openedAt: string
      /** The last activity. */
      activeAt: string
      closedAt: string | null
      closedBy: string | null
      windowClosesAt: string | null
      lastWord: {
        /** The first 160 characters. */
        text: string
        /** When the person wrote it. */
        at: string
        /** Where they wrote to. */
        lineId: string
      } | null
      /** Nothing was sent to the person since their last word. */
      isUnanswered: boolean
    }
  }
  /** Close an attendance. */
  'POST /attendances/:id/close': {
    path: {
      id: string
    }
    query: undefined
    body: undefined
    answer: undefined
  }
  /** List rules. */
  'GET /rules': {
    path: undefined
    query: {
      cursor?: string
      limit?: number
      q?: string
      sort?: 'position' | 'name'
      order?: 'asc' | 'desc'
      kind?: 'restriction_list' | 'opt_out' | 'allowed_hours' | 'frequency_cap' | 'duplicate' | 'segment_channel' | 'template_state'
    }
    body: undefined
    answer: {
      items: {
        /** The rule. */
        id: string
        /** What it looks at. */
        kind: 'restriction_list' | 'opt_out' | 'allowed_hours' | 'frequency_cap' | 'duplicate' | 'segment_channel' | 'template_state'
        /** Its name. */
        name: string
        /** Refuse, or let it wait for the first moment it may leave. */
        action?: 'block' | 'defer' | null
        /** Narrowed to these APIs. */
        apis?: ('unified' | 'direct')[] | null
        /** Narrowed to these channels. */
        channels?: ('email' | 'sms' | 'whatsapp')[] | null
        /** Narrowed to these segments; none: all. */
        segmentIds?: string[] | null
        /** Off: not looked at. */
        isEnabled?: boolean | null
        /** The order of reasons. */
        position?: number | null
        /** Depends on the kind. */
        settings?: {
          /** Of a rule of the kind restriction_list. */
          listId?: string | null
          /** Of allowed_hours; empty: the company's. */
          timeZone?: string | null
          /** Of allowed_hours: Monday first, each day its spans. */
          weekdays?: {
            /** Minute of the day, included. */
            from: number
            /** Minute of the day, not included. */
            to: number
          }[][] | null
          /** Of allowed_hours: days on which nothing leaves. */
          holidays?: string[] | null
          /** Of frequency_cap. */
          limit?: number | null
          /** Of frequency_cap. */
          period?: 'hour' | 'day' | 'week' | 'month' | null
          /** Of duplicate. */
          withinMinutes?: number | null
        } | null
      }[]
      nextCursor: string | null
    }
  }
  /** Create a rule. */
  'POST /rules': {
    path: undefined
    query: undefined
    body: {
      /** What it looks at. */
      kind: 'restriction_list' | 'opt_out' | 'allowed_hours' | 'frequency_cap' | 'duplicate' | 'segment_channel' | 'template_state'
      /** Its name. */
      name: string
      /** Refuse, or let it wait for the first moment it may leave. */
      action?: 'block' | 'defer' | null
      /** Narrowed to these APIs. */
      apis?: ('unified' | 'direct')[] | null
      /** Narrowed to these channels. */
      channels?: ('email' | 'sms' | 'whatsapp')[] | null
      /** Narrowed to these segments; none: all. */
      segmentIds?: string[] | null
      /** Off: not looked at. */
      isEnabled?: boolean | null
      /** The order of reasons. */
      position?: number | null
      /** Depends on the kind. */
      settings?: {
        /** Of a rule of the kind restriction_list. */
        listId?: string | null
        /** Of allowed_hours; empty: the company's. */
        timeZone?: string | null
        /** Of allowed_hours: Monday first, each day its spans. */
        weekdays?: {
          /** Minute of the day, included. */
          from: number
          /** Minute of the day, not included. */
          to: number
        }[][] | null
        /** Of allowed_hours: days on which nothing leaves. */
        holidays?: string[] | null
        /** Of frequency_cap. */
        limit?: number | null
        /** Of frequency_cap. */
        period?: 'hour' | 'day' | 'week' | 'month' | null
        /** Of duplicate. */
        withinMinutes?: number | null
      } | null
    }
    answer: {
      /** The rule. */
      id: string
      /** What it looks at. */
      kind: 'restriction_list' | 'opt_out' | 'allowed_hours' | 'frequency_cap' | 'duplicate' | 'segment_channel' | 'template_state'
      /** Its name. */
      name: string
      /** Refuse, or let it wait for the first moment it may leave. */
      action?: 'block' | 'defer' | null
      /** Narrowed to these APIs. */
      apis?: ('unified' | 'direct')[] | null
      /** Narrowed to these channels. */
      channels?: ('email' | 'sms' | 'whatsapp')[] | null
      /** Narrowed to these segments; none: all. */
      segmentIds?: string[] | null
      /** Off: not looked at. */
      isEnabled?: boolean | null
      /** The order of reasons. */
      position?: number | null
      /** Depends on the kind. */
      settings?: {
        /** Of a rule of the kind restriction_list. */
        listId?: string | null
        /** Of allowed_hours; empty: the company's. */
        timeZone?: string | null
        /** Of allowed_hours: Monday first, each day its spans. */
        weekdays?: {
          /** Minute of the day, included. */
          from: number
          /** Minute of the day, not included. */
          to: number
        }[][] | null
        /** Of allowed_hours: days on which nothing leaves. */
        holidays?: string[] | null
        /** Of frequency_cap. */
        limit?: number | null
        /** Of frequency_cap. */
        period?: 'hour' | 'day' | 'week' | 'month' | null
        /** Of duplicate. */
        withinMinutes?: number | null
      } | null
    }
  }
  /** Try a recipient against the rules. */
  'POST /rules/try': {
    path: undefined
    query: undefined
    body: {
      /** As which API; unified unless told otherwise. */
      api?: 'unified' | 'direct' | null
      /** The channel. */
      channel: 'email' | 'sms' | 'whatsapp'
      /** Number with country code, or e-mail address. */
      recipient: string
      /** Looked up on restriction lists. */
      documentNumber?: string | null
      /** Looked up on restriction lists. */
      contractCode?: string | null
      /** As a message of this segment. */
      segmentId?: string | null
      /** With this template; else free text. */
      templateCode?: string | null
      variables?: Record<string, string> | null
    }
    answer: {
      /** `accepted`, `not_sent` or `refused`. */
      outcome: string
      verdicts: {
        /** What was looked at: the kind of a rule, or the state of the contact. */
        rule: 'restriction_list' | 'opt_out' | 'allowed_hours' | 'frequency_cap' | 'duplicate' | 'segment_channel' | 'template_state' | 'attendance' | 'recent_contact' | 'window' | 'company'
        /** The rule; absent for what holds without one. */
        ruleId?: string | null
        passed: boolean
        /** Of one that did not pass. */
        action?: 'block' | 'defer' | null
        reason?: string | null
        /** What it matched. */
        matched?: string | null
        /** When it would pass. */
        nextAllowedAt?: string | null
      }[]
    }
  }
  /** Read a rule. */
  'GET /rules/:id': {
    path: {
      id: string
    }
    query: undefined
    body: undefined
    answer: {
      /** The rule. */
      id: string
      /** What it looks at. */
      kind: 'restriction_list' | 'opt_out' | 'allowed_hours' | 'frequency_cap' | 'duplicate' | 'segment_channel' | 'template_state'
      /** Its name. */
      name: string
      /** Refuse, or let it wait for the first moment it may leave. */
      action?: 'block' | 'defer' | null
      /** Narrowed to these APIs. */
      apis?: ('unified' | 'direct')[] | null
      /** Narrowed to these channels. */
      channels?: ('email' | 'sms' | 'whatsapp')[] | null
      /** Narrowed to these segments; none: all. */
      segmentIds?: string[] | null
      /** Off: not looked at. */
      isEnabled?: boolean | null
      /** The order of reasons. */
      position?: number | null
      /** Depends on the kind. */
      settings?: {
        /** Of a rule of the kind restriction_list. */
        listId?: string | null
        /** Of allowed_hours; empty: the company's. */
        timeZone?: string | null
        /** Of allowed_hours: Monday first, each day its spans. */
        weekdays?: {
          /** Minute of the day, included. */
          from: number
          /** Minute of the day, not included. */
          to: number
        }[][] | null
        /** Of allowed_hours: days on which nothing leaves. */
        holidays?: string[] | null
        /** Of frequency_cap. */
        limit?: number | null
        /** Of frequency_cap. */
        period?: 'hour' | 'day' | 'week' | 'month' | null
        /** Of duplicate. */
        withinMinutes?: number | null
      } | null
    }
  }
  /** Replace a rule. */
  'PUT /rules/:id': {
    path: {
      id: string
    }
    query: undefined
    body: {
      /** Its name. */
      name: string
      /** Refuse, or let it wait for the first moment it may leave. */
      action?: 'block' | 'defer' | null
      /** Narrowed to these APIs. */
      apis?: ('unified' | 'direct')[] | null
      /** Narrowed to these channels. */
      channels?: ('email' | 'sms' | 'whatsapp')[] | null
      /** Narrowed to these segments; none: all. */
      segmentIds?: string[] | null
      /** Off: not looked at. */
      isEnabled?: boolean | null
      /** The order of reasons. */
      position?: number | null
      /** Depends on the kind. */
      settings?: {
        /** Of a rule of the kind restriction_list. */
        listId?: string | null
        /** Of allowed_hours; empty: the company's. */
        timeZone?: string | null
        /** Of allowed_hours: Monday first, each day its spans. */
        weekdays?: {
          /** Minute of the day, included. */
          from: number
          /** Minute of the day, not included. */
          to: number
        }[][] | null
        /** Of allowed_hours: days on which nothing leaves. */
        holidays?: string[] | null
        /** Of frequency_cap. */
        limit?: number | null
        /** Of frequency_cap. */
        period?: 'hour' | 'day' | 'week' | 'month' | null
        /** Of duplicate. */
        withinMinutes?: number | null
      } | null
    }
    answer: {
      /** The rule. */
      id: string
      /** What it looks at. */
      kind: 'restriction_list' | 'opt_out' | 'allowed_hours' | 'frequency_cap' | 'duplicate' | 'segment_channel' | 'template_state'
      /** Its name. */
      name: string
      /** Refuse, or let it wait for the first moment it may leave. */
      action?: 'block' | 'defer' | null
      /** Narrowed to these APIs. */
      apis?: ('unified' | 'direct')[] | null
      /** Narrowed to these channels. */
      channels?: ('email' | 'sms' | 'whatsapp')[] | null
      /** Narrowed to these segments; none: all. */
      segmentIds?: string[] | null
      /** Off: not looked at. */
      isEnabled?: boolean | null
      /** The order of reasons. */
      position?: number | null
      /** Depends on the kind. */
      settings?: {
        /** Of a rule of the kind restriction_list. */
        listId?: string | null
        /** Of allowed_hours; empty: the company's. */
        timeZone?: string | null
        /** Of allowed_hours: Monday first, each day its spans. */
        weekdays?: {
          /** Minute of the day, included. */
          from: number
          /** Minute of the day, not included. */
          to: number
        }[][] | null
        /** Of allowed_hours: days on which nothing leaves. */
        holidays?: string[] | null
        /** Of frequency_cap. */
        limit?: number | null
        /** Of frequency_cap. */
        period?: 'hour' | 'day' | 'week' | 'month' | null
        /** Of duplicate. */
        withinMinutes?: number | null
      } | null
    }
  }
  /** Remove a rule. */
  'DELETE /rules/:id': {
    path: {
      id: string
    }
    query: undefined
    body: undefined
    answer: undefined
  }
  /** Put the rules in order. */
  'PUT /rules/order': {
    path: undefined
    query: undefined
    body: {
      /** First the one whose reason is told first. */
      ruleIds: string[]
    }
    answer: {
      ruleIds: string[]
    }
  }
  /** List restriction lists. */
  'GET /restriction-lists': {
    path: undefined
    query: {
      cursor?: string
      limit?: number
      q?: string
      sort?: 'name' | 'createdAt'
      order?: 'asc' | 'desc'
    }
    body: undefined
    answer: {
      items: {
        /** The list. */
        id: string
        name: string
        /** Counted up to 10,000, in a list of lists up to 1,000. */
        entries: number
        /** There are more than were counted. */
        hasMoreEntries: boolean
        /** Those that look at it. */
        rules: {
          /** A rule. */
          id: string
          name: string
          isEnabled: boolean
        }[]
        /** When it was made. */
        createdAt: string
      }[]
      nextCursor: string | null
    }
  }
  /** Create a restriction list. */
  'POST /restriction-lists': {
    path: undefined
    query: undefined
    body: {
      /** Its name. */
      name: string
    }
    answer: {
      /** The list. */
      id: string
      name: string
    }
  }
  /** Read a restriction list. */
  'GET /restriction-lists/:id': {
    path: {
      id: string
    }
    query: undefined
    body: undefined
    answer: {
      /** The list. */
      id: string
      name: string
      /** Counted up to 10,000, in a list of lists up to 1,000. */
      entries: number
      /** There are more than were counted. */
      hasMoreEntries: boolean
      /** Those that look at it. */
      rules: {
        /** A rule. */
        id: string
        name: string
        isEnabled: boolean
      }[]
    }
  }
  /** Rename a restriction list. */
  'PATCH /restriction-lists/:id': {
    path: {
      id: string
    }
    query: undefined
    body: {
      /** Its name. */
      name: string
    }
    answer: {
      /** The list. */
      id: string
      name: string
    }
  }
  /** Remove a restriction list with all entries. */
  'DELETE /restriction-lists/:id': {
    path: {
      id: string
    }
    query: undefined
    body: undefined
    answer: undefined
  }
  /** Look a value up on all lists. */
  'POST /restriction-lists/look-up': {
    path: undefined
    query: undefined
    body: {
      /** What to look up. */
      value: string
    }
    answer: {
      items: {
        list: {
          /** The list. */
          id: string
          name: string
        }
        /** What is restricted. */
        field: 'phone' | 'email' | 'document' | 'contract'
        /** In the form in which it compares. */
        value: string
        isPrefix: boolean
        expiresAt: string | null
        /** Those that look at the list. */
        rules: {
          /** A rule. */
          id: string
          name: string
          isEnabled: boolean
        }[]
      }[]
    }
  }
  /** List or look for entries. */
  'GET /restriction-lists/:id/entries': {
    path: {
      id: string
    }
    query: {
      cursor?: string
      limit?: number
      value?: string
      field?: 'phone' | 'email' | 'document' | 'contract'
    }
    body: undefined
    answer: {
      items: {
        /** What is restricted. */
        field: 'phone' | 'email' | 'document' | 'contract'
        /** In the form in which it compares. */
        value: string
        isPrefix: boolean
        expiresAt: string | null
      }[]
      nextCursor: string | null
    }
  }
  /** Add entries. */
  'POST /restriction-lists/:id/entries': {
    path: {
      id: string
    }
    query: undefined
    body: {
      /** The entries. */
      entries: {
        /** What is restricted. */
        field: 'phone' | 'email' | 'document' | 'contract'
        /** A number, an address, a document or a contract. */
        value: string
        /** Everything that begins with it. */
        isPrefix?: boolean | null
        /** Until when it holds; without it, for good. */
        expiresAt?: string | null
      }[]
    }
    answer: {
      added: number
      changed: number
    }
  }
  /** Remove entries. */
  'POST /restriction-lists/:id/entries/remove': {
    path: {
      id: string
    }
    query: undefined
    body: {
      /** The entries. */
      entries: {
        /** What is restricted. */
        field: 'phone' | 'email' | 'document' | 'contract'
        /** A number, an address, a document or a contract. */
        value: string
        /** Everything that begins with it. */
        isPrefix?: boolean | null
        /** Until when it holds; without it, for good. */
        expiresAt?: string | null
      }[]
    }
    answer: {
      removed: number
    }
  }
  /** List imports. */
  'GET /imports': {
    path: undefined
    query: {
      cursor?: string
      limit?: number
      listId?: string
    }
    body: undefined
    answer: {
      items: {
        /** The import. */
        id: string
        kind: string
        fileName: string
        /** Bytes; 0 while it is being sent. */
        size: number
        /** Where it stands. */
        state: 'uploading' | 'queued' | 'running' | 'done' | 'failed'
        progress: {
          bytesRead?: number | null
          linesRead?: number | null
          added?: number | null
          changed?: number | null
          unchanged?: number | null
          bad?: number | null
        }
        error: string | null
        createdBy: string
        /** When it was sent. */
        createdAt: string
        finishedAt: string | null
        /** The list that it goes into. */
        listId?: string | null
      }[]
      nextCursor: string | null
    }
  }
  /** How an import is doing. */
  'GET /imports/:id': {
    path: {
      id: string
    }
    query: undefined
    body: undefined
    answer: {
      /** The import. */
      id: string
      kind: string
      fileName: string
      /** Bytes; 0 while it is being sent. */
      size: number
      /** Where it stands. */
      state: 'uploading' | 'queued' | 'running' | 'done' | 'failed'
      progress: {
        bytesRead?: number | null
        linesRead?: number | null
        added?: number | null
        changed?: number | null
        unchanged?: number | null
        bad?: number | null
      }
      error: string | null
      createdBy: string
      /** When it was sent. */
      createdAt: string
      finishedAt: string | null
      /** The list that it goes into. */
      listId?: string | null
      /** The first ones that were not taken; all of them: `bad-lines`. */
      badLines: {
        line: number
        reason: string
      }[]
    }
  }
  /** Lines that were not taken, with the reason. */
  'GET /imports/:id/bad-lines': {
    path: {
      id: string
    }
    query: undefined
    body: undefined
    answer: undefined
  }
  /** Import contacts from CSV. */
  'POST /contacts/import': {
    path: undefined
    query: {
      fileName?: string
      updateIfExists?: boolean
    }
    body: undefined
    answer: {
      /** The import. */
      id: string
      kind: string
      fileName: string
      /** Bytes; 0 while it is being sent. */
      size: number
      /** Where it stands. */
      state: 'uploading' | 'queued' | 'running' | 'done' | 'failed'
      progress: {
        bytesRead?: number | null
        linesRead?: number | null
        added?: number | null
        changed?: number | null
        unchanged?: number | null
        bad?: number | null
      }
      error: string | null
      createdBy: string
      /** When it was sent. */
      createdAt: string
      finishedAt: string | null
      /** The list that it goes into. */
      listId?: string | null
    }
  }
  /** Import entries of a restriction list from CSV. */
  'POST /restriction-lists/:id/import': {
    path: {
      id: string
    }
    query: {
      fileName?: string
      field?: 'phone' | 'email' | 'document' | 'contract'
    }
    body: undefined
    answer: {
      /** The import. */
      id: string
      kind: string
      fileName: string
      /** Bytes; 0 while it is being sent. */
      size: number
      /** Where it stands. */
      state: 'uploading' | 'queued' | 'running' | 'done' | 'failed'
      progress: {
        bytesRead?: number | null
        linesRead?: number | null
        added?: number | null
        changed?: number | null
        unchanged?: number | null
        bad?: number | null
      }
      error: string | null
      createdBy: string
      /** When it was sent. */
      createdAt: string
      finishedAt: string | null
      /** The list that it goes into. */
      listId?: string | null
    }
  }
  /** List messages. */
  'GET /messages': {
    path: undefined
    query: {
      cursor?: string
      limit?: number
      recipient?: string
      providerId?: string
      callId?: string
      requestId?: string
      contractCode?: string
      state?: 'queued' | 'sending' | 'sent' | 'delivered' | 'read' | 'failed' | 'expired' | 'unknown' | 'blocked' | 'not_sent'
      api?: 'unified' | 'direct'
      channel?: 'email' | 'sms' | 'whatsapp'
      lineId?: string
      templateId?: string
      segmentId?: string
      senderId?: string
      from?: string
      to?: string
      id?: string
    }
    body: undefined
    answer: {
      items: {
        /** The message. */
        id: string
        /** The API. */
        api: 'unified' | 'direct'
        /** The channel. */
        channel: 'email' | 'sms' | 'whatsapp'
        /** Where it stands. */
        state: 'queued' | 'sending' | 'sent' | 'delivered' | 'read' | 'failed' | 'expired' | 'unknown' | 'blocked' | 'not_sent'
        contactId: string | null
        recipient: string
        lineId: string | null
        lineName: string | null
        templateId: string | null
        templateName: string | null
        segmentId: string | null
        segmentName: string | null
        requestId: string
        callId: string | null
        contractCode: string | null
        /** When it was accepted. */
        acceptedAt: string
        handedOverAt: string | null
        settledAt: string | null
        errorCode: string | null
        errorMessage: string | null
        refusal: string | null
        /** The first 160 characters of what the person reads: of an e-mail its subject. */
        preview: string
      }[]
      nextCursor: string | null
    }
  }
  /** Messages as CSV. */
  'GET /messages/export': {
    path: undefined
    query: {
      recipient?: string
      providerId?: string
      callId?: string
      requestId?: string
      contractCode?: string
      state?: 'queued' | 'sending' | 'sent' | 'delivered' | 'read' | 'failed' | 'expired' | 'unknown' | 'blocked' | 'not_sent'
      api?: 'unified' | 'direct'
      channel?: 'email' | 'sms' | 'whatsapp'
      lineId?: string
      templateId?: string
      segmentId?: string
      senderId?: string
      from?: string
      to?: string
    }
    body: undefined
    answer: undefined
  }
  /** Read a message with its timeline. */
  'GET /messages/:id': {
    path: {
      id: string
    }
    query: undefined
    body: undefined
    answer: {
      /** The message. */
      id: string
      /** The API. */
      api: 'unified' | 'direct'
      /** The channel. */
      channel: 'email' | 'sms' | 'whatsapp'
      /** Where it stands. */
      state: 'queued' | 'sending' | 'sent' | 'delivered' | 'read' | 'failed' | 'expired' | 'unknown' | 'blocked' | 'not_sent'
      contactId: string | null
      recipient: string
      lineId: string | null
      lineName: string | null
      templateId: string | null
      templateName: string | null
      segmentId: string | null
      segmentName: string | null
      requestId: string
      callId: string | null
      contractCode: string | null
      /** When it was accepted. */
      acceptedAt: string
      handedOverAt: string | null
      settledAt: string | null
      contactName: string | null
      sender: {
        /** What it is. */
        kind: 'user' | 'token' | 'key'
        id: string
        name: string
      } | null
      documentNumber: string | null
      /** What is sent: `kind` is `text` or `template`. */
      content: Record<string, unknown>
      error: {
        code: string
        message: string | null
      } | null
      /** What did not pass. */
      reasons: {
        /** What was looked at: the kind of a rule, or the state of the contact. */
        rule: 'restriction_list' | 'opt_out' | 'allowed_hours' | 'frequency_cap' | 'duplicate' | 'segment_channel' | 'template_state' | 'attendance' | 'recent_contact' | 'window' | 'company'
        /** The rule; absent for what holds without one. */
        ruleId?: string | null
        passed: boolean
        /** Of one that did not pass. */
        action?: 'block' | 'defer' | null
        reason?: string | null
        /** What it matched. */
        matched?: string | null
        /** When it would pass. */
        nextAllowedAt?: string | null
      }[]
      /** When it is given up. */
      expiresAt: string
      waiting: {
        /** When it may leave. */
        dueAt: string
        /** Why it has not left yet. */
        reason: 'rules' | 'retry' | 'line_paused' | 'line_disabled' | 'queue'
        verdicts: {
          /** What was looked at: the kind of a rule, or the state of the contact. */
          rule: 'restriction_list' | 'opt_out' | 'allowed_hours' | 'frequency_cap' | 'duplicate' | 'segment_channel' | 'template_state' | 'attendance' | 'recent_contact' | 'window' | 'company'
          /** The rule; absent for what holds without one. */
          ruleId?: string | null
          passed: boolean
          /** Of one that did not pass. */
          action?: 'block' | 'defer' | null
          reason?: string | null
          /** What it matched. */
          matched?: string | null
          /** When it would pass. */
          nextAllowedAt?: string | null
        }[]
        attempts: number
      } | null
      unknownUntil: string | null
      providerIds: {
        part: number
        providerId: string
        state: string | null
      }[]
      events: {
        /** When. */
        at: string
        /** What happened. */
        kind: 'accepted' | 'blocked' | 'not_sent' | 'waits' | 'released' | 'attempt' | 'sent' | 'receipt' | 'unknown' | 'left_unknown' | 'sent_again' | 'failed_over' | 'expired' | 'resent' | 'unsubscribed' | 'callback'
        detail: Record<string, unknown>
      }[]
    }
  }
  /** Send a message again. */
  'POST /messages/:id/resend': {
    path: {
      id: string
    }
    query: undefined
    body: undefined
    answer: {
      /** The new message. */
      messageId: string
    }
  }
  /** Delivery report. */
  'GET /reports': {
    path: undefined
    query: {
      groupBy?: ('day' | 'hour' | 'api' | 'channel' | 'line' | 'template' | 'segment' | 'outcome')[]
      from?: string
      to?: string
      api?: 'unified' | 'direct'
      channel?: 'email' | 'sms' | 'whatsapp'
      lineId?: string
      templateId?: string
      segmentId?: string
      isCsv?: boolean
    }
    body: undefined
    answer: {
      from: string
      to: string
      timeZone: string
      rows: {
        /** The dimensions asked for; ids with their prefix, null where there is none. */
        of: Record<string, unknown>
        /** By outcome. `queued` counts what was accepted. */
        counts: Record<string, unknown>
        /** From accepting to delivered; at most 30 % too high. */
        medianMs?: number | null
        p95Ms?: number | null
        p99Ms?: number | null
      }[]
      total: {
        /** The dimensions asked for; ids with their prefix, null where there is none. */
        of: Record<string, unknown>
        /** By outcome. `queued` counts what was accepted. */
        counts: Record<string, unknown>
        /** From accepting to delivered; at most 30 % too high. */
        medianMs?: number | null
        p95Ms?: number | null
        p99Ms?: number | null
      }
      /** What the lines, templates and segments of the rows are called, by their ids. */
      names: Record<string, string>
    }
  }
  /** List callbacks. */
  'GET /callbacks': {
    path: undefined
    query: {
      cursor?: string
      limit?: number
      state?: 'waiting' | 'delivered' | 'given_up'
      event?: 'sent' | 'delivered' | 'read' | 'failed' | 'expired' | 'blocked' | 'unknown' | 'received'
      messageId?: string
      endpoint?: string
    }
    body: undefined
    answer: {
      items: {
        id: number
        /** Without the `message.` before it. */
        event: 'sent' | 'delivered' | 'read' | 'failed' | 'expired' | 'blocked' | 'unknown' | 'received'
        /** Where it stands. */
        state: 'waiting' | 'delivered' | 'given_up'
        /** The message, or the received message. */
        messageId: string
        /** The address that came with the request, or the company webhook. */
        target: 'request' | 'webhook'
        /** Callbacks of one endpoint share its fate. */
        endpoint: string
        url: string | null
        /** When it happened. */
        at: string
        /** When it is tried next; of no meaning once it is over. */
        dueAt: string
        attempts: number
        lastStatus: number | null
        lastError: string | null
        replayedAt: string | null
        finishedAt: string | null
      }[]
      nextCursor: string | null
    }
  }
  /** Every attempt of a callback. */
  'GET /callbacks/attempts': {
    path: undefined
    query: {
      callbackId: number
    }
    body: undefined
    answer: {
      callback: {
        id: number
        /** Without the `message.` before it. */
        event: 'sent' | 'delivered' | 'read' | 'failed' | 'expired' | 'blocked' | 'unknown' | 'received'
        /** Where it stands. */
        state: 'waiting' | 'delivered' | 'given_up'
        /** The message, or the received message. */
        messageId: string
        /** The address that came with the request, or the company webhook. */
        target: 'request' | 'webhook'
        /** Callbacks of one endpoint share its fate. */
        endpoint: string
        url: string | null
        /** When it happened. */
        at: string
        /** When it is tried next; of no meaning once it is over. */
        dueAt: string
        attempts: number
        lastStatus: number | null
        lastError: string | null
        replayedAt: string | null
        finishedAt: string | null
      }
      /** The same in every attempt. */
      webhookId: string
      /** The same bytes in every attempt. */
      body: string
      trouble: {
        /** In a row. */
        failures: number
        /** Since when. */
        failingSince: string
        closedUntil: string | null
      } | null
      items: {
        callbackId: number
        number: number
        /** When it began. */
        at: string
        durationMs: number
        status: number | null
        error: string | null
        answer: string | null
      }[]
    }
  }
  /** Send callbacks again. */
  'POST /callbacks/replay': {
    path: undefined
    query: undefined
    body: {
      /** This one alone. */
      id?: number | null
      /** Only in this state. */
      state?: 'waiting' | 'delivered' | 'given_up' | null
      /** Only of this event. */
      event?: 'sent' | 'delivered' | 'read' | 'failed' | 'expired' | 'blocked' | 'unknown' | 'received' | null
      /** Of events since then. */
      since?: string | null
      /** Of events before then. */
      until?: string | null
    }
    answer: {
      replayed: number
    }
  }
  /** List direct tokens. */
  'GET /direct-tokens': {
    path: undefined
    query: {
      cursor?: string
      limit?: number
      q?: string
      sort?: 'createdAt' | 'name'
      order?: 'asc' | 'desc'
      isRevoked?: boolean
    }
    body: undefined
    answer: {
      items: {
        /** The token. */
        id: string
        name: string
        /** Channels that it may send on. */
        channels?: ('email' | 'sms' | 'whatsapp')[] | null
        /** Who may call; none: everybody. */
        allowedAddresses?: string[] | null
        /** When it was made. */
        createdAt: string
        revokedAt: string | null
      }[]
      nextCursor: string | null
    }
  }
  /** Generate a direct token. */
  'POST /direct-tokens': {
    path: undefined
    query: undefined
    body: {
      /** What it is for. */
      name: string
      /** Channels that it may send on. */
      channels?: ('email' | 'sms' | 'whatsapp')[] | null
      /** Who may call; none: everybody. */
      allowedAddresses?: string[] | null
    }
    answer: {
      /** The token. */
      id: string
      name: string
      /** Channels that it may send on. */
      channels?: ('email' | 'sms' | 'whatsapp')[] | null
      /** Who may call; none: everybody. */
      allowedAddresses?: string[] | null
      /** When it was made. */
      createdAt: string
      revokedAt: string | null
      /** Shown now and never again. */
      token: string
    }
  }
  /** Read a direct token. */
  'GET /direct-tokens/:id': {
    path: {
      id: string
    }
    query: undefined
    body: undefined
    answer: {
      /** The token. */
      id: string
      name: string
      /** Channels that it may send on. */
      channels?: ('email' | 'sms' | 'whatsapp')[] | null
      /** Who may call; none: everybody. */
      allowedAddresses?: string[] | null
      /** When it was made. */
      createdAt: string
      revokedAt: string | null
    }
  }
  /** Change name, channels or allow list of a direct token. */
  'PATCH /direct-tokens/:id': {
    path: {
      id: string
    }
    query: undefined
    body: {
      /** What it is for. */
      name?: string | null
      /** Channels that it may send on. */
      channels?: ('email' | 'sms' | 'whatsapp')[] | null
      /** Who may call; none: everybody. */
      allowedAddresses?: string[] | null
    }
    answer: {
      /** The token. */
      id: string
      name: string
      /** Channels that it may send on. */
      channels?: ('email' | 'sms' | 'whatsapp')[] | null
      /** Who may call; none: everybody. */
      allowedAddresses?: string[] | null
      /** When it was made. */
      createdAt: string
      revokedAt: string | null
    }
  }
  /** Revoke a direct token. */
  'DELETE /direct-tokens/:id': {
    path: {
      id: string
    }
    query: undefined
    body: undefined
    answer: undefined
  }
  /** Replace a direct token. */
  'POST /direct-tokens/:id/renew': {
    path: {
      id: string
    }
    query: undefined
    body: undefined
    answer: {
      /** The token. */
      id: string
      name: string
      /** Channels that it may send on. */
      channels?: ('email' | 'sms' | 'whatsapp')[] | null
      /** Who may call; none: everybody. */
      allowedAddresses?: string[] | null
      /** When it was made. */
      createdAt: string
      revokedAt: string | null
      /** Shown now and never again. */
      token: string
    }
  }
  /** List keys of this API. */
  'GET /admin-keys': {
    path: undefined
    query: {
      cursor?: string
      limit?: number
      q?: string
      sort?: 'createdAt' | 'name'
      order?: 'asc' | 'desc'
    }
    body: undefined
    answer: {
      items: {
        /** The key. */
        id: string
        name: string
        scopes: ('messages:own' | 'read' | 'manage')[]
        userId: string | null
        createdBy: string
        /** When it was made. */
        createdAt: string
        revokedAt: string | null
      }[]
      nextCursor: string | null
    }
  }
  /** Create a key of this API. */
  'POST /admin-keys': {
    path: undefined
    query: undefined
    body: {
      /** What it is for. */
      name: string
      /** `messages:own` reads what one API user sent, `read` sees what a viewer sees, `manage` may what an administrator may. */
      scopes: ('messages:own' | 'read' | 'manage')[]
      /** Whose messages, for `messages:own`. */
      userId?: string | null
    }
    answer: {
      /** The key. */
      id: string
      name: string
      scopes: ('messages:own' | 'read' | 'manage')[]
      userId: string | null
      createdBy: string
      /** When it was made. */
      createdAt: string
      revokedAt: string | null
      /** Shown now and never again. */
      key: string
    }
  }
  /** Revoke a key of this API. */
  'DELETE /admin-keys/:id': {
    path: {
      id: string
    }
    query: undefined
    body: undefined
    answer: undefined
  }
  /** List alerts. */
  'GET /alerts': {
    path: undefined
    query: {
      cursor?: string
      limit?: number
      isOpen?: boolean
      lineId?: string
    }
    body: undefined
    answer: {
      items: {
        id: string
        kind: string
        subject: string
        message: string
        /** Since when. */
        raisedAt: string
        clearedAt: string | null
      }[]
      nextCursor: string | null
    }
  }
  /** Read the audit log. */
  'GET /audit': {
    path: undefined
    query: {
      cursor?: string
      limit?: number
      noun?: string
      nounId?: string
      actor?: string
      from?: string
      to?: string
    }
    body: undefined
    answer: {
      items: {
        id: string
        actor: string
        action: string
        noun: string
        nounId: string | null
        detail: Record<string, unknown> | null
        /** When. */
        at: string
      }[]
      nextCursor: string | null
    }
  }
  /** How the lines are doing. */
  'GET /lanes': {
    path: undefined
    query: undefined
    body: undefined
    answer: {
      items: {
        lineId: string
        name: string
        /** The channel. */
        channel: 'email' | 'sms' | 'whatsapp'
        isEnabled: boolean
        isPaused: boolean
        pausedReason: string | null
        /** A worker that is alive drives it. */
        isDriven: boolean
        ratePerSecond: number
        inFlightLimit: number
        /** Waits to leave now; counted up to 10,000. */
        depth: number
        oldestDueAt: string | null
        inFlight: number
        /** Waits for a rule's moment; counted up to 10,000. */
        deferred: number
        isUp: boolean | null
        healthDetail: string | null
        heldUntil: string | null
        lastError: {
          /** `unreachable`, `throttled`, `misconfigured` … */
          kind: string
          code: string
          message: string
          /** When. */
          at: string
        } | null
      }[]
    }
  }
  /** List received messages. */
  'GET /received': {
    path: undefined
    query: {
      cursor?: string
      limit?: number
    }
    body: undefined
    answer: {
      items: {
        id: string
        text: string
        /** When. */
        at: string
      }[]
      nextCursor: string | null
    }
  }
  /** Live events. */
  'GET /events': {
    path: undefined
    query: {
      watch?: string[]
    }
    body: undefined
    answer: undefined
  }
  /** Where the two APIs answer. */
  'GET /apis': {
    path: undefined
    query: undefined
    body: undefined
    answer: {
      unified: {
        /** Without a trailing slash. */
        url: string
        /** Whether the address of the console answers for it as well. */
        isHere: boolean
      }
      direct: {
        /** Without a trailing slash. */
        url: string
        /** Whether the address of the console answers for it as well. */
        isHere: boolean
      }
    }
  }
  /** Whether a sandbox runs here, and its doors. */
  'GET /sandbox': {
    path: undefined
    query: undefined
    body: undefined
    answer: {
      isRunning: boolean
      /** Its own page and API, on its own machine only. */
      url?: string | null
      /** Callbacks sent here, or below, are caught. */
      catcherUrl?: string | null
      status?: Record<string, unknown> | null
    }
  }
  /** What the phone and the mailbox hold. */
  'GET /sandbox/messages': {
    path: undefined
    query: {
      channel?: 'email' | 'sms' | 'whatsapp'
      person?: string
      search?: string
      before?: number
      limit?: number
    }
    body: undefined
    answer: {
      messages: {
        /** The message. */
        id: string
        /** Grows with every message. */
        sequence: number
        /** The channel. */
        channel: 'email' | 'sms' | 'whatsapp'
        /** Who wrote it. */
        direction: 'toPerson' | 'fromPerson'
      }[]
      total: number
      nextBefore?: number | null
    }
  }
  /** Empty the phone and the mailbox. */
  'DELETE /sandbox/messages': {
    path: undefined
    query: undefined
    body: undefined
    answer: {
      deleted: number
    }
  }
  /** Read a message of the sandbox. */
  'GET /sandbox/messages/:id': {
    path: {
      id: string
    }
    query: undefined
    body: undefined
    answer: {
      /** The message. */
      id: string
      /** Grows with every message. */
      sequence: number
      /** The channel. */
      channel: 'email' | 'sms' | 'whatsapp'
      /** Who wrote it. */
      direction: 'toPerson' | 'fromPerson'
    }
  }
  /** A file of a message of the sandbox. */
  'GET /sandbox/messages/:id/file': {
    path: {
      id: string
    }
    query: {
      part: 'raw' | 'html' | 'attachment' | 'media'
      index?: number
    }
    body: undefined
    answer: undefined
  }
  /** Do with a message what the person would. */
  'POST /sandbox/messages/:id/act': {
    path: {
      id: string
    }
    query: undefined
    body: {
      /** What the person does. */
      act: 'read' | 'reply' | 'button' | 'reaction' | 'bounce' | 'unsubscribe'
      /** Of a reply. */
      text?: string | null
      /** A reply that quotes the message. */
      isQuoting?: boolean | null
      /** Of the button, from 0. */
      index?: number | null
      /** Of a carousel, from 0. */
      card?: number | null
      /** Of a reaction. */
      emoji?: string | null
    }
    answer: {
      note?: string | null
      /** What a button would have opened. */
      url?: string | null
      /** What a button would have copied. */
      code?: string | null
    }
  }
  /** Write as a person. */
  'POST /sandbox/answers': {
    path: undefined
    query: undefined
    body: {
      /** SMS or WhatsApp. */
      channel: 'sms' | 'whatsapp'
      /** The person's number. */
      from: string
      /** The number that is written to. */
      to: string
      /** What they write. */
      text: string
    }
    answer: {
      message?: {
        /** The message. */
        id: string
        /** Grows with every message. */
        sequence: number
        /** The channel. */
        channel: 'email' | 'sms' | 'whatsapp'
        /** Who wrote it. */
        direction: 'toPerson' | 'fromPerson'
      } | null
    }
  }
  /** Live events of the sandbox. */
  'GET /sandbox/events': {
    path: undefined
    query: undefined
    body: undefined
    answer: undefined
  }
  /** How the dials of the sandbox stand. */
  'GET /sandbox/chaos': {
    path: undefined
    query: undefined
    body: undefined
    answer: {
      seed: number
      email: Record<string, unknown>
      sms: Record<string, unknown>
      whatsapp: Record<string, unknown>
    }
  }
  /** Turn dials of the sandbox. */
  'PUT /sandbox/chaos': {
    path: undefined
    query: undefined
    body: {
      /** The same seed gives the same trouble again. */
      seed?: number | null
      /** Of e-mail; missing ones stay. */
      email?: Record<string, unknown> | null
      /** Of SMS; missing ones stay. */
      sms?: Record<string, unknown> | null
      /** Of WhatsApp; missing ones stay. */
      whatsapp?: Record<string, unknown> | null
    }
    answer: {
      seed: number
      email: Record<string, unknown>
      sms: Record<string, unknown>
      whatsapp: Record<string, unknown>
    }
  }
  /** Calm everything. */
  'DELETE /sandbox/chaos': {
    path: undefined
    query: undefined
    body: undefined
    answer: {
      seed: number
      email: Record<string, unknown>
      sms: Record<string, unknown>
      whatsapp: Record<string, unknown>
    }
  }
  /** Callbacks that the sandbox has caught. */
  'GET /sandbox/callbacks': {
    path: undefined
    query: undefined
    body: undefined
    answer: {
      /** What was caught. */
      callbacks: {
        sequence: number
        /** What followed `/catch/`. */
        name: string
        receivedAt: string
        method: string
        headers: Record<string, string>
        body: string
        /** On the signature. */
        verdict: 'valid' | 'invalid' | 'unsigned' | 'stale'
        webhookId?: string | null
        /** The status it was answered with. */
        answered: number
      }[]
    }
  }
  /** What the catcher answers. */
  'PUT /sandbox/callbacks': {
    path: undefined
    query: undefined
    body: {
      /** Only to callbacks sent to `/catch/` and this name. */
      name?: string | null
      /** An HTTP status. */
      status: number
    }
    answer: {
      name: string
      status: number
    }
  }
  /** Forget the callbacks that were caught. */
  'DELETE /sandbox/callbacks': {
    path: undefined
    query: undefined
    body: undefined
    answer: undefined
  }
}
