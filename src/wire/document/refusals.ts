/** What a status means that a server gives on the routes of each protocol. They add to it what it means there. */
export const refusals: Readonly<Record<number, string>> = {
  401: 'The API key or token is missing or not valid.',
  403: 'The origin is not allowed, or the key or token does not have the scope.',
  408: 'The body did not arrive in time.',
  413: 'The body is too large.',
  415: 'The body is not JSON.',
  421: 'The Host is not allowed.',
  429: 'Too many requests. Retry after the time in Retry-After.',
}

/** Also on routes that start runs and take files. */
export const runRefusals: Readonly<Record<number, string>> = {
  ...refusals,
  400: 'The request is not valid.',
  409: 'What waited has another answer, or the session is busy.',
  413: 'The body or a file is too large.',
  429: 'Too many requests or runs. Retry after the time in Retry-After.',
  500: 'Internal error.',
  503: 'The server is stopping or at capacity.',
  507: 'The disk is full.',
}
