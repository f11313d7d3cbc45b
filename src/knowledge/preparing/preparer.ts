import { Worker } from 'node:worker_threads'
import { AppError, type ErrorCode, type ErrorDetail } from '../../core/error.ts'
import type { PreparedDocument, PrepareRequest, Preparer } from '../../core/knowledge-drivers.ts'
import type { PrepareMessage } from './worker.ts'

export type PrepareReply =
  | { id: number; document: PreparedDocument }
  | { id: number; known: { code: ErrorCode; message: string; details: readonly ErrorDetail[] } }
  | { id: number; unknown: unknown }

interface Waiting {
  resolve(document: PreparedDocument): void
  reject(error: unknown): void
}

/** Prepares in a worker thread, which is started with the first document and does not keep the process alive. */
export function createPreparer(): Preparer {
  let starting: Promise<Worker> | undefined
  const waiting = new Map<number, Waiting>()
  let lastId = 0

  const start = async (): Promise<Worker> => {
    const { workerUrl, workerName } = await import('./worker.ts')
    const worker = new Worker(new URL(workerUrl), { workerData: workerName, name: workerName })
    worker.unref()
    const end = (error: unknown) => {
      starting = undefined
      for (const each of waiting.values()) each.reject(error)
      waiting.clear()
      worker.unref()
    }
    worker.on('message', (reply: PrepareReply) => {
      const asked = waiting.get(reply.id)
      waiting.delete(reply.id)
      if (waiting.size === 0) worker.unref()
      if ('document' in reply) asked?.resolve(reply.document)
      else asked?.reject(toError(reply))
    })
    worker.on('error', end)
    worker.on('exit', () => end(new AppError('unavailable', 'The thread that reads documents ended.')))
    return worker
  }

  return {
    async prepare(request: PrepareRequest, signal: AbortSignal) {
      starting ??= start()
      const worker = await starting
      signal.throwIfAborted()
      const id = ++lastId
      const { promise, resolve, reject } = Promise.withResolvers<PreparedDocument>()
      const onAbort = () => {
        waiting.delete(id)
        tell(worker, { abort: id })
        reject(signal.reason)
      }
      signal.addEventListener('abort', onAbort, { once: true })
      waiting.set(id, { resolve, reject })
      worker.ref()
      // A part of a larger buffer would be sent with all of it.
      const content = typeof request.content === 'string' ? request.content : new Uint8Array(request.content)
      const moved = typeof content === 'string' ? [] : [content.buffer as ArrayBuffer]
      worker.postMessage({ id, request: { ...request, content } } satisfies PrepareMessage, moved)
      return promise.finally(() => signal.removeEventListener('abort', onAbort))
    },
    forgetWords() {
      void starting?.then((worker) => tell(worker, 'forget'))
    },
    async close() {
      const worker = await starting?.catch(() => undefined)
      starting = undefined
      if (!worker) return
      const gone = new Promise((resolve) => worker.once('exit', resolve))
      worker.ref()
      tell(worker, 'close')
      await gone
    },
  }
}

function tell(worker: Worker, message: PrepareMessage): void {
  worker.postMessage(message)
}

function toError(reply: Exclude<PrepareReply, { document: PreparedDocument }>): unknown {
  if ('unknown' in reply) return reply.unknown
  const { code, message, details } = reply.known
  return new AppError(code, message, { details })
}
