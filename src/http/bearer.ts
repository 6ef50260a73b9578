const form = /^bearer +([A-Za-z0-9._~+/=-]{1,1024}) *$/i

/** The token of an Authorization header, whose scheme is matched without regard to case. */
export const bearerToken = (authorization: string | undefined): string | undefined =>
  authorization === undefined ? undefined : form.exec(authorization)?.[1]
