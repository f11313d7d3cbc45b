import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { AppError, type ErrorCode, type ErrorDetail } from '../../core/error.ts'
import type { PartBefore, PreparedDocument, PrepareRequest, Preparer } from '../../core/knowledge/drivers.ts'
import { unreadable } from '../../core/knowledge/filter.ts'
import { releaseBytes } from '../../runtime/release-bytes.ts'
import { needsParser, partReader } from '../readers/all.ts'
import { parsersAtOnce } from '../readers/parsers.ts'
import { createFairTurns } from './fair-turns.ts'
import { encodingOf, textParts } from './text-parts.ts'
import type { PrepareMessage } from './worker.ts'

export type PrepareReply =
  | { id: number; document: PreparedDocument }
  | { id: number; known: { code: ErrorCode; message: string; details: readonly ErrorDetail[] } }
  | { id: number; unknown: unknown }

interface PendingReply {
  resolve(document: PreparedDocument): void
  reject(error: unknown): void
}

interface Thread {
  worker: Worker
  waiting: Map<number, PendingReply>
}

/** One core is left for requests, and the disk keeps up with at most two threads. Each takes some 40 MB. */
const threads = Math.max(1, Math.min(2, availableParallelism() - 1))
/** Jobs per thread from which another thread is started. */
const busy = 4
/** How long a caller without a parser waits before it gets one from a caller with two. */
const patienceMs = 250

/** Prepares in worker threads, started on demand. Each remembers its own words, so a word may be returned twice. */
export function createPreparer(): Preparer {
  const started: { thread: Promise<Thread>; load: number }[] = []
  let lastId = 0

  const start = () => {
    const place = { thread: startThread(() => started.splice(started.indexOf(place), 1)), load: 0 }
    started.push(place)
    return place
  }
  /** The least busy thread; a new one while more are allowed. */
  const choose = () => {
    const least = started.toSorted((one, other) => one.load - other.load)[0]
    return least && (least.load < busy || started.length === threads) ? least : start()
  }

  const parsing = createFairTurns({ atOnce: parsersAtOnce, patienceMs })

  const prepareNow = async (request: PrepareRequest, signal: AbortSignal) => {
    const place = choose()
    place.load++
    try {
      const thread = await place.thread
      signal.throwIfAborted()
      return await ask(thread, ++lastId, request, signal)
    } finally {
      place.load--
    }
  }

  return {
    async prepare(request: PrepareRequest, signal: AbortSignal) {
      if (!needsParser({ ...request, name: request.name ?? request.source })) return prepareNow(request, signal)
      const prepare = (preempted: AbortSignal) => prepareNow(request, AbortSignal.any([signal, preempted]))
      return parsing.run(request.caller, prepare, signal)
    },
    takesParts: ({ name, mediaType, source }, head) => partReader(head, name ?? source, mediaType) !== undefined,
    async *prepareParts(request, file, named, signal) {
      const name = request.name ?? request.source
      const reader = partReader(file.head, name, request.mediaType)
      if (reader === undefined) throw unreadable(name, 'it can only be read whole')
      const encoding = await encodingOf(file, name, named)
      let before: PartBefore | undefined
      for await (const content of textParts(file.pieces(), { encoding, name, partEnd: reader.partEnd })) {
        const part: PreparedDocument = await prepareNow({ ...request, content, part: { before, encoding } }, signal)
        before = part.after
        yield part
      }
    },
    forgetWords() {
      for (const { thread } of started) void thread.then(({ worker }) => tell(worker, 'forget'))
    },
    release({ rows, vectors }) {
      for (const { texts, words } of rows) {
        releaseBytes(texts)
        releaseBytes(words)
      }
      for (const each of vectors.values()) releaseBytes(each)
    },
    async close() {
      await Promise.all([...started].map(({ thread }) => thread.then(endThread)))
    },
  }
}

async function startThread(onExit: () => void): Promise<Thread> {
  const { workerUrl, workerName } = await import('./worker.ts')
  const worker = new Worker(new URL(workerUrl), {
    workerData: workerName,
    name: workerName,
    resourceLimits: { maxYoungGenerationSizeMb: 16 },
  })
  worker.unref()
  const waiting = new Map<number, PendingReply>()
  worker.on('message', (replies: PrepareReply[]) => {
    for (const reply of replies) {
      const asked = waiting.get(reply.id)
      waiting.delete(reply.id)
      if ('document' in reply) asked?.resolve(reply.document)
      else asked?.reject(toError(reply))
    }
    if (waiting.size === 0) worker.unref()
  })
  let reason: unknown
  worker.on('error', (error) => {
    reason = error
  })
  worker.on('exit', () => {
    onExit()
    const error = new AppError('unavailable', 'The thread that reads documents ended.', { cause: reason })
    for (const each of waiting.values()) each.reject(error)
    waiting.clear()
  })
  return { worker, waiting }
}

async function ask({ worker, waiting }: Thread, id: number, request: PrepareRequest, signal: AbortSignal) {
  const { promise, resolve, reject } = Promise.withResolvers<PreparedDocument>()
  const onAbort = () => {
    waiting.delete(id)
    tell(worker, { abort: id })
    reject(signal.reason)
  }
  signal.addEventListener('abort', onAbort, { once: true })
  waiting.set(id, { resolve, reject })
  worker.ref()
  // A view of a larger buffer would be sent with the whole buffer.
  const content = typeof request.content === 'string' ? request.content : new Uint8Array(request.content)
  const moved = typeof content === 'string' ? [] : [content.buffer as ArrayBuffer]
  worker.postMessage({ id, request: { ...request, content } } satisfies PrepareMessage, moved)
  return promise.finally(() => signal.removeEventListener('abort', onAbort))
}

async function endThread({ worker }: Thread): Promise<void> {
  const gone = new Promise((resolve) => worker.once('exit', resolve))
  worker.ref()
  tell(worker, 'close')
  await gone
}

function tell(worker: Worker, message: PrepareMessage): void {
  worker.postMessage(message)
}

function toError(reply: Exclude<PrepareReply, { document: PreparedDocument }>): unknown {
  if ('unknown' in reply) return reply.unknown
  const { code, message, details } = reply.known
  return new AppError(code, message, { details })
}
