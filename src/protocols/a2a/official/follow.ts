import { isFinalEvent } from '../../../core/event.ts'
import { toWireEvent } from '../../../core/events/sent-event.ts'
import type { Logger } from '../../../core/logger.ts'
import type { FilePart, Part } from '../../../core/message.ts'
import { contentsOf, type ReadFile, type SentFile } from '../../files.ts'
import { type Batch, toFrames } from '../../frames.ts'
import type { TaskProjection } from './stream.ts'

export interface FollowOptions {
  runId: string
  logger: Logger
  files: { read: ReadFile; most: number }
  /** Nothing has happened yet, so not even the first event is there. */
  isQueued: boolean
}

/** How long to wait for more of what has happened already, and for a run that never rests. */
const restMs = 25
const mostMs = 250

/**
 * The task as it is now, then everything after it. One reader reads both, so nothing between them is lost or doubled, however
 * many events there were until now.
 */
export async function followTask(
  projection: TaskProjection,
  events: AsyncIterator<Batch>,
  { isQueued, ...options }: FollowOptions,
): Promise<AsyncIterable<string>> {
  try {
    const { rest, isOver } = await catchUp(projection, events, isQueued)
    const { read, most } = options.files
    const opening = projection.open(await contentMap(projection.parts, read, most))
    return toFrames(projection, rest, { ...options, opening, isOver })
  } catch (error) {
    await events.return?.()
    throw error
  }
}

async function catchUp(projection: TaskProjection, events: AsyncIterator<Batch>, isQueued: boolean) {
  const begun = performance.now()
  let next = events.next()
  for (let isFirst = true; ; isFirst = false) {
    const result = isFirst && !isQueued ? await next : await Promise.race([next, pause()])
    if (result === undefined) return { rest: resumeWith(next, events), isOver: false }
    if (result.done) return { rest: resumeWith(Promise.resolve(result), events), isOver: false }
    for (const event of result.value) projection.fold(toWireEvent(event, false))
    const last = result.value.at(-1)
    if (last !== undefined && isFinalEvent(last)) return { rest: events, isOver: true }
    if (performance.now() - begun > mostMs) return { rest: events, isOver: false }
    next = events.next()
  }
}

function pause(): Promise<undefined> {
  return new Promise((resolve) => setTimeout(resolve, restMs, undefined))
}

/** The iterator with what has been asked of it already, whose failure nobody may be waiting for yet. */
function resumeWith(asked: Promise<IteratorResult<Batch>>, events: AsyncIterator<Batch>): AsyncIterator<Batch> {
  asked.catch(() => undefined)
  let pending: Promise<IteratorResult<Batch>> | undefined = asked
  return {
    next() {
      const next = pending ?? events.next()
      pending = undefined
      return next
    },
    return: async () => (await events.return?.()) ?? { done: true, value: undefined },
  }
}

/** The latest files with their contents, as many as fit. */
export async function contentMap(
  parts: readonly Part[],
  read: ReadFile,
  most: number,
): Promise<ReadonlyMap<Part, SentFile>> {
  const files = parts.filter((part): part is FilePart => part.type === 'file')
  if (files.length === 0) return new Map()
  const contents = await contentsOf(files, read, most)
  return new Map(files.map((part, place) => [part, contents[place] ?? part]))
}
