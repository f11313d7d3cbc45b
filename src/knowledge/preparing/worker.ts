import { readlinkSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { isAppError } from '../../core/error.ts'
import type { PreparedDocument, PrepareRequest } from '../../core/knowledge/drivers.ts'
import { createPreparing } from './prepare.ts'
import type { PrepareReply } from './preparer.ts'

/** This file, wherever a bundler put it. */
export const workerUrl = import.meta.url
export const workerName = 'agentserve-prepare'

const port = workerData === workerName ? parentPort : null
if (port) serve(port)

/** Each message wakes the serving thread. */
const repliesPerMessage = 8

export type PrepareMessage = { id: number; request: PrepareRequest } | { abort: number } | 'forget' | 'close'

function serve(target: NonNullable<typeof parentPort>): void {
  yieldToOthers()
  const preparing = createPreparing()
  const underway = new Map<number, AbortController>()
  let replies: PrepareReply[] = []
  target.on('message', (message: PrepareMessage) => {
    if (message === 'forget') preparing.forgetWords()
    else if (message === 'close') void preparing.close().finally(() => target.close())
    else if ('abort' in message) underway.get(message.abort)?.abort()
    else void answer(message.id, message.request)
  })

  async function answer(id: number, request: PrepareRequest): Promise<void> {
    const stop = new AbortController()
    underway.set(id, stop)
    let reply: PrepareReply
    try {
      reply = { id, document: await preparing.prepare(request, stop.signal) }
    } catch (error) {
      reply = isAppError(error)
        ? { id, known: { code: error.code, message: error.message, details: error.details } }
        : { id, unknown: error }
    }
    underway.delete(id)
    replies.push(reply)
    if (replies.length === repliesPerMessage) send()
    else if (replies.length === 1) setImmediate(send)
  }

  function send(): void {
    const moved = replies.flatMap((reply) => ('document' in reply ? buffersOf(reply.document) : []))
    if (replies.length > 0) target.postMessage(replies, moved)
    replies = []
  }
}

function buffersOf({ rows, vectors }: PreparedDocument): ArrayBuffer[] {
  const ofRows = rows.flatMap(({ texts, words }) => [texts, words])
  return [...ofRows, ...vectors.values()].map(({ buffer }) => buffer as ArrayBuffer)
}

/** Requests take precedence over ingestion. Linux has priorities per thread. */
function yieldToOthers(): void {
  try {
    const thread = Number(readlinkSync('/proc/thread-self').split('/').at(-1))
    setPriority(thread, Math.min(19, getPriority() + 10))
  } catch {
    // On other systems the threads of a process share one priority.
  }
}
