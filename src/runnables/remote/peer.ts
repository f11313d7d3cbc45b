import { AppError } from '../../core/error.ts'
import type { InputRequired } from '../../core/event.ts'
import { abortable, pause } from '../../runtime/abort.ts'
import type { Talk } from './call.ts'
import type { Card, PeerInterface } from './card.ts'
import { failing, follow, isCut, type OpenedTurn } from './conversation.ts'
import { type CardPlace, Cards } from './discovery.ts'
import { PeerError, PeerHttp } from './http.ts'
import { Link, type OwnMessage } from './link.ts'
import type { PeerEvent, PeerStatus } from './objects.ts'
import { type RemoteEmission, toEmission, toPeerPart } from './parts.ts'
import { resumedTask, textIn, toRequests } from './pause.ts'
import { TaskAnswer } from './task-answer.ts'
import { knowPeer } from './waiting-tasks.ts'

export interface PeerSettings extends CardPlace {
  apiKey?: string | undefined
  headers?: Record<string, string> | undefined
  timeoutMs: number
  /** For the log. */
  where: string
  /** Names it in records. */
  target: string
}

const code = {
  taskNotFound: -32001,
  unsupported: -32004,
  versionNotSupported: -32009,
  noMethod: -32601,
  params: -32602,
}
const maxContexts = 10_000
const maxWaits = 3
const longestRetryAfterSeconds = 30

/** Talks to an agent of any A2A server, by its card. Connects on the first run. */
export function peerTalk(settings: PeerSettings) {
  const { timeoutMs, where, target } = settings
  const http = new PeerHttp(settings)
  const cards = new Cards(http, settings)
  const contexts = new ForeignContexts()
  knowPeer(target, async (taskId) => {
    const [best] = (await cards.get()).interfaces
    const { signal } = new AbortController()
    if (best !== undefined) await new Link(best, { http, headers: {}, signal, timeoutMs }).cancel(taskId)
  })
  return async function* ({ input, context, headers, session }: Talk): AsyncGenerator<RemoteEmission | InputRequired> {
    const { signal, logger } = context
    const paused = resumedTask(context.resumed)
    const answer = paused?.answer ?? new TaskAnswer()
    const parts = paused?.reply ?? (await Promise.all(input.parts.map((part) => toPeerPart(part, context))))
    const { taskId } = answer
    const contextId = answer.contextId ?? contexts.get(session)
    const message: OwnMessage = { messageId: crypto.randomUUID(), contextId, taskId, parts }
    const open = () =>
      openTurn({
        message,
        mayDropContext: taskId === undefined && contextId === session,
        card: (isOutdated) => abortable(cards.get({ isOutdated }), signal),
        link: (chosen) => new Link(chosen, { http, headers, signal, timeoutMs }),
        signal,
      })
    try {
      for await (const piece of follow({ open, answer, signal, logger, where })) {
        yield 'told' in piece
          ? { type: 'reasoning_delta', text: `${piece.told}\n` }
          : await toEmission(piece.part, context)
      }
    } finally {
      contexts.set(session, answer.contextId)
    }
    const { status } = answer
    if (status?.state === 'input_required') yield* await toRequests(status, answer, target)
    else if (status !== undefined && status.state !== 'completed') throw failureOf(status)
  }
}

interface Opening {
  message: OwnMessage
  /** The id of the context is ours, and the peer may know only its own. */
  mayDropContext: boolean
  card(isOutdated: boolean): Promise<Card>
  link(chosen: PeerInterface): Link
  signal: AbortSignal
}

/**
 * Sends the message over the best interface. What the peer refuses without having begun is sent again, once each: without
 * our context, without a stream, by a new card, over the next interface, and after the wait that it asked for.
 */
async function openTurn({ message, mayDropContext, card, link, signal }: Opening): Promise<OpenedTurn> {
  let present = await card(false)
  let { streaming } = present
  let refused: PeerInterface | undefined
  let isFresh = false
  for (let waits = 0; ; ) {
    const chosen = present.interfaces.find((one) => JSON.stringify(one) !== JSON.stringify(refused))
    if (chosen === undefined)
      throw new AppError('run_failed', `it refused A2A ${refused?.dialect}, all that its card offers`)
    const opened = link(chosen)
    try {
      return { link: opened, streaming, events: await begin(opened, message, streaming) }
    } catch (error) {
      // The task shows whether the answer has reached it.
      if (isCut(error) && message.taskId !== undefined) return { link: opened, streaming, events: failing(error) }
      if (!(error instanceof PeerError)) throw error
      const { reason, status, retryAfterSeconds = 1 } = error
      const isContext = reason === code.params || reason === code.taskNotFound
      const isVersion = reason === code.versionNotSupported
      if (mayDropContext && message.contextId !== undefined && isContext) message.contextId = undefined
      else if (streaming && (reason === code.unsupported || reason === code.noMethod)) streaming = false
      else if (
        !isFresh &&
        (isVersion || reason === code.noMethod || (status === 404 && reason !== code.taskNotFound))
      ) {
        isFresh = true
        present = await card(true)
        streaming = present.streaming
        if (isVersion) refused = chosen
      } else if (
        (status === 429 || status === 503) &&
        retryAfterSeconds <= longestRetryAfterSeconds &&
        waits < maxWaits
      ) {
        waits++
        await pause(retryAfterSeconds * 1000, signal)
      } else throw error
    }
  }
}

/**
 * A peer without streams answers at once, so that the task can be cancelled, and is then asked for it. It waits with the
 * answer after a pause, because until then the task shows the pause.
 */
async function begin(link: Link, message: OwnMessage, streaming: boolean): Promise<AsyncIterable<PeerEvent>> {
  if (streaming) return link.stream(message)
  const event = await link.send(message, message.taskId !== undefined)
  return (async function* () {
    yield event
  })()
}

function failureOf(status: PeerStatus): AppError {
  const said = textIn(status.parts)
  const more = said === '' ? '' : `: ${said}`
  switch (status.state) {
    case 'canceled':
      return new AppError('run_failed', `its task was cancelled there${more}`)
    case 'rejected':
      return new AppError('run_failed', `it refused the task${more}`)
    case 'auth_required':
      return new AppError(
        'run_failed',
        `it wants an authorization that it does not have${more}. Give it, and run again`,
      )
    default:
      return new AppError('run_failed', said === '' ? 'its task failed' : said)
  }
}

/** The contexts of peers that make their own ids, by the ids that we gave them; of this process only. */
class ForeignContexts {
  readonly #known = new Map<string, string>()

  get(own: string | undefined): string | undefined {
    return own === undefined ? undefined : (this.#known.get(own) ?? own)
  }

  set(own: string | undefined, theirs: string | undefined): void {
    if (own === undefined || theirs === undefined || own === theirs) return
    this.#known.delete(own)
    this.#known.set(own, theirs)
    const [oldest] = this.#known.size > maxContexts ? this.#known.keys() : []
    if (oldest !== undefined) this.#known.delete(oldest)
  }
}
