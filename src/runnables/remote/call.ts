import { createHash } from 'node:crypto'
import { hopsHeader, hopsOf, maxHops } from '../../core/access/hops.ts'
import { AppError, isAppError, messageOf } from '../../core/error.ts'
import type { InputRequired } from '../../core/event.ts'
import type { RunContext, RunInput } from '../../core/runnable.ts'
import type { RemoteEmission } from './parts.ts'

/** One call of a remote agent; `place` tells apart who calls in one session. */
export type Call = (
  input: RunInput,
  context: RunContext,
  place: string,
) => AsyncGenerator<RemoteEmission | InputRequired>

/** `headers` say how often the request was passed on, and in which trace. `session` names the conversation there; absent: a new one. */
export interface Talk {
  input: RunInput
  context: RunContext
  headers: Record<string, string>
  session: string | undefined
}

export interface CallOptions {
  /** For messages: "The remote agent 'x' at host". */
  where: string
  /** What names the agent in the world. */
  target: readonly (string | undefined)[]
  session: 'keep' | 'new'
}

/** A call that ends loops of servers and says in its errors which agent they are about. */
export function createCall(
  { where, target, session }: CallOptions,
  talk: (talk: Talk) => AsyncIterable<RemoteEmission | InputRequired>,
): Call {
  return async function* (input, context, place) {
    const hops = hopsOf(context.metadata) + 1
    if (hops > maxHops) {
      throw new AppError(
        'run_failed',
        `${where} was not called: the request has already passed through ${hops} servers. Do they call each other in a circle?`,
      )
    }
    try {
      yield* talk({
        input,
        context,
        headers: {
          [hopsHeader]: String(hops),
          ...(context.traceparent !== undefined && { traceparent: context.traceparent }),
        },
        session: session === 'new' ? undefined : sessionThere([context.sessionId, place, ...target]),
      })
    } catch (error) {
      context.signal.throwIfAborted()
      // A limit of this run, which the files of the answer reached.
      if (isAppError(error) && error.code === 'run_limit') throw error
      throw new AppError('run_failed', `${where}: ${messageOf(error)}`, { cause: error })
    }
  }
}

/** Each caller gets its own session: two that wait for each other in one session would wait forever. */
function sessionThere(about: readonly (string | undefined)[]): string {
  const hash = createHash('sha256').update(JSON.stringify(about))
  return `remote:${hash.digest('base64url').slice(0, 32)}`
}
