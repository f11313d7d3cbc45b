import { createHash } from 'node:crypto'
import type { HttpRequest } from '../../http/request.ts'
import type { Idempotency } from '../../service/services.ts'

/** What tells whose request it is, besides the body. */
const telling = ['x-session-id', 'x-openwebui-chat-id', 'x-openwebui-user-id'] as const

/**
 * Clients of OpenAI repeat requests without a key, and say how often in `X-Stainless-Retry-Count`: 0 for the first. A request
 * with the same caller, route, body, session and end user is the same one. Undefined for clients that don't say it. `body`: the
 * parsed JSON. `session`: anything else by which the session was found.
 */
export function attemptOf(
  request: HttpRequest,
  route: string,
  body: unknown,
  session: string | undefined,
): Idempotency | undefined {
  const count = request.headers['x-stainless-retry-count']
  if (typeof count !== 'string' || !/^\d{1,4}$/.test(count)) return undefined
  const { caller, userId = '', headers } = request
  const digest = createHash('sha256')
    .update(JSON.stringify([request.path, session ?? null, telling.map((name) => headers[name] ?? null)]))
    .update(JSON.stringify(body) ?? '')
    .digest('base64url')
  return {
    key: `openai ${route} ${caller} ${userId} ${digest}`,
    hash: digest,
    whileRunning: 'join',
    attempt: Number(count) === 0 ? 'first' : 'again',
  }
}
