import { AppError, logLevelOf } from '../core/error.ts'
import type { Json } from '../core/json.ts'
import type { Logger } from '../core/logger.ts'
import type { Claim, ClaimRecord } from '../core/run-write.ts'
import type { SessionStore } from '../core/store.ts'
import type { Clock } from '../core/time.ts'
import { timestamp } from '../core/time.ts'
import type { Idempotency, Services } from './services.ts'

export const claimKeptMs = 24 * 60 * 60 * 1000

export function toClaim(idempotency: Idempotency, now: number): Claim {
  return {
    key: idempotency.key,
    hash: hashOf(idempotency),
    expires_at: timestamp(now + (idempotency.keptMs ?? claimKeptMs)),
  }
}

/** A key that a request was given and one that was made of it never stand for each other. */
function hashOf({ hash, attempt }: Idempotency): string {
  return attempt === undefined ? hash : `attempt ${hash}`
}

/** The answer to the first request with this key. Throws `idempotency_mismatch`, or `conflict` while there is none. */
export function earlierAnswer(record: ClaimRecord, idempotency: Idempotency): Json {
  assertSameRequest(record, idempotency)
  if (record.answer === null) {
    throw new AppError('conflict', 'A request with this idempotency key is still in progress. Retry later.', {
      retryAfterSeconds: 1,
    })
  }
  return record.answer
}

export function assertSameRequest(record: ClaimRecord, idempotency: Idempotency | undefined): void {
  if (idempotency === undefined || record.hash !== hashOf(idempotency)) throw otherRequest()
}

function otherRequest(): AppError {
  return new AppError(
    'idempotency_mismatch',
    'This idempotency key was already used with a different request. Use a new key.',
  )
}

/** The stored answer to a streamed body, whose hash is known only after the work. */
interface AnswerToStream<T> {
  body: string
  given: T
}

/** Does the work of each key once. Failed work releases its key, so that a retry does it again. */
export function createOnce(store: SessionStore, clock: Clock, logger: Logger): Services['once'] {
  /** Keys without work in progress that are not released yet, with the attempt that is under way. */
  const left = new Map<string, Promise<void> | undefined>()

  /** One attempt at a time: a late one would release a key that is at work again. */
  function releaseNow(key: string): Promise<void> {
    const attempt =
      left.get(key) ??
      store.releaseClaim(key).then(
        () => void left.delete(key),
        (error: unknown) => {
          left.set(key, undefined)
          throw error
        },
      )
    left.set(key, attempt)
    return attempt
  }

  async function release(key: string): Promise<void> {
    try {
      await releaseNow(key)
    } catch (error) {
      logger[logLevelOf(error)](
        { error },
        'an idempotency key could not be released; the next request with a key will try again',
      )
    }
  }

  /** Also other keys: the next request with one of them may come to another server. */
  async function releaseLeft(own: string): Promise<void> {
    for (const key of left.keys()) if (key !== own) releaseNow(key).catch(() => {})
    if (left.has(own)) await releaseNow(own)
  }

  return async (idempotency, work) => {
    if (idempotency === undefined) return work()
    if (left.size > 0) await releaseLeft(idempotency.key)
    const earlier = await store.claim(toClaim(idempotency, clock()))
    const { bodyHash } = idempotency
    if (earlier !== undefined) {
      const answer = earlierAnswer(earlier, idempotency)
      if (bodyHash === undefined) return answer as Awaited<ReturnType<typeof work>>
      const { body, given } = answer as unknown as AnswerToStream<Awaited<ReturnType<typeof work>>>
      if (body !== (await bodyHash())) throw otherRequest()
      return given
    }
    try {
      const answer = await work()
      const kept: AnswerToStream<typeof answer> | undefined = bodyHash && { body: await bodyHash(), given: answer }
      await store.completeClaim(idempotency.key, (kept as unknown as Json) ?? answer)
      return answer
    } catch (error) {
      await release(idempotency.key)
      throw error
    }
  }
}
