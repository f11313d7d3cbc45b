import { AppError, isAppError, messageOf } from '../../core/error.ts'
import type { Logger } from '../../core/logger.ts'
import { pause } from '../../runtime/abort.ts'
import { PeerError } from './http.ts'
import type { Link } from './link.ts'
import type { PeerEvent } from './objects.ts'
import type { Piece, TaskAnswer } from './task-answer.ts'

const maxTries = 5
const firstWaitMs = 100
const longestWaitMs = 5000
/** So often a snapshot may show the pause that was answered. */
const patientPolls = 5

export interface OpenedTurn {
  link: Link
  events: AsyncIterable<PeerEvent>
  /** The peer streams. */
  streaming: boolean
}

export interface Turn {
  /** Sends the message. */
  open(): Promise<OpenedTurn>
  answer: TaskAnswer
  signal: AbortSignal
  logger: Logger
  /** Of the remote agent, for the log. */
  where: string
}

/**
 * Follows a task to its end or its pause. A stream that is cut continues from the task's present state: first as a stream,
 * then by asking for the task. A task that is left before its end is cancelled.
 */
export async function* follow(turn: Turn): AsyncGenerator<Piece> {
  const { answer, signal } = turn
  let link: Link | undefined
  try {
    const opened = await turn.open()
    link = opened.link
    let events = opened.events
    let canSubscribe = opened.streaming
    let failures = 0
    while (true) {
      const before = answer.progress
      let cut: unknown = new AppError('unavailable', 'it ended its stream before the task ended')
      try {
        for await (const event of events) {
          yield* answer.take(event)
          if (answer.isOver) break
        }
      } catch (error) {
        signal.throwIfAborted()
        if (!isCut(error)) throw error
        cut = error
      }
      if (answer.isOver) break
      if (answer.taskId === undefined) throw cut
      if (answer.progress > before) failures = 0
      if (!canSubscribe && failures >= maxTries) throw cut
      if (failures >= maxTries) {
        canSubscribe = false
        failures = 0
      }
      await pause(waitMs(failures++), signal)
      const again = canSubscribe ? await subscribe(link, answer.taskId, signal) : undefined
      canSubscribe &&= again !== undefined
      events = again ?? poll(link, answer, signal)
    }
    yield* answer.status?.state === 'completed' ? answer.rest() : []
  } finally {
    const { taskId } = answer
    const isLeft = !answer.isOver || answer.status?.state === 'auth_required'
    if (link !== undefined && taskId !== undefined && isLeft) void cancel(link, taskId, turn)
  }
}

/** Undefined when the peer does not give a stream of this task: it has ended, or it never does. */
async function subscribe(
  link: Link,
  taskId: string,
  signal: AbortSignal,
): Promise<AsyncIterable<PeerEvent> | undefined> {
  try {
    return await link.subscribe(taskId)
  } catch (error) {
    signal.throwIfAborted()
    if (isCut(error)) return failing(error)
    if (error instanceof PeerError) return undefined
    throw error
  }
}

/** Events that fail at once, as a stream that is cut. */
export function failing(error: unknown): AsyncIterable<PeerEvent> {
  return { [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(error) }) }
}

/** Asks for the task until it ends, at first often. */
async function* poll(link: Link, answer: TaskAnswer, signal: AbortSignal): AsyncGenerator<PeerEvent> {
  const { taskId = '' } = answer
  let failures = 0
  for (let polls = 0; ; polls++) {
    if (polls >= patientPolls) answer.forgetPause()
    try {
      yield await link.get(taskId)
      failures = 0
    } catch (error) {
      signal.throwIfAborted()
      if (!isCut(error) && !isBusy(error)) throw error
      if (++failures >= maxTries) throw isAppError(error) ? new AppError('run_failed', error.message) : error
    }
    await pause(waitMs(polls), signal)
  }
}

/** The peer has too much to do, or is away behind its proxy. */
function isBusy(error: unknown): boolean {
  return error instanceof PeerError && [408, 429, 500, 502, 503, 504].includes(error.status)
}

/** The connection failed, or the peer was too slow to begin. */
export function isCut(error: unknown): boolean {
  return isAppError(error) && (error.code === 'unavailable' || error.code === 'timeout')
}

function waitMs(tries: number): number {
  return Math.min(longestWaitMs, firstWaitMs * 1.5 ** tries) * (0.75 + Math.random() / 4)
}

async function cancel(link: Link, taskId: string, { logger, where }: Turn): Promise<void> {
  try {
    await link.cancel(taskId)
  } catch (error) {
    logger.warn({ task: taskId, reason: messageOf(error) }, `${where}: its task could not be cancelled`)
  }
}
