import { version } from '../core/version.ts'
import { type AddressRules, checkedLookup, checkedUrl } from './public-network.ts'
import { retryAfterMs } from './retry-after.ts'

/** What is read of an answer, so that its connection can be used again. */
const maxAnswerBytes = 16 * 1024
const maxAnswerMs = 1_000

export interface PostOptions extends AddressRules {
  /** Time limit of a request, from the look-up of the name to the status of the answer. */
  timeoutMs: number
}

export interface Post {
  url: string
  headers: Record<string, string>
  body: string
  signal: AbortSignal
}

export interface PostAnswer {
  status: number
  /** The time that it asks to wait before the next try. */
  retryAfterMs: number | undefined
}

/** Sends what nobody waits for to addresses that callers have given. */
export interface Poster {
  /**
   * The answer, whatever its status: redirects are not followed. Throws `invalid_request` for an address that the rules
   * do not allow, and else what went wrong. Proxies of the environment are not used: they would connect unchecked.
   */
  post(request: Post): Promise<PostAnswer>
  close(): Promise<void>
}

export async function openPoster({ timeoutMs, ...rules }: PostOptions): Promise<Poster> {
  const { Agent, request } = await import('undici')
  const dispatcher = new Agent({
    connect: { lookup: checkedLookup(rules), timeout: timeoutMs },
    headersTimeout: timeoutMs,
    bodyTimeout: maxAnswerMs,
    maxHeaderSize: maxAnswerBytes,
  })
  return {
    async post({ url, headers, body, signal }) {
      const late = AbortSignal.timeout(timeoutMs)
      const answer = await request(checkedUrl(url, rules), {
        dispatcher,
        method: 'POST',
        headers: { ...headers, 'user-agent': `agentserve/${version}` },
        body,
        signal: AbortSignal.any([signal, late]),
      })
      await answer.body
        .dump({ limit: maxAnswerBytes, signal: AbortSignal.timeout(maxAnswerMs) })
        .catch(() => answer.body.on('error', () => {}).destroy())
      return { status: answer.statusCode, retryAfterMs: retryAfterMs(answer.headers['retry-after']) }
    },
    close: () => dispatcher.destroy(),
  }
}
