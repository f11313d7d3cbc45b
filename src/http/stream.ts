import { logLevelOf } from '../core/error.ts'
import { heartbeat } from '../core/sse.ts'
import type { Exchange } from './exchange.ts'
import type { Frames, Reply, ReplyBody } from './reply.ts'
import { headOf } from './writer.ts'

type StreamBody = Extract<ReplyBody, { kind: 'sse' | 'stream' }>

/**
 * Writes a stream: one write per value; the next value is requested when the socket has drained. The head waits for the
 * first value, so an earlier throw leaves the reply open and is rethrown. A later throw is logged; it ends an event
 * stream and cuts any other stream, since only a cut shows that it is incomplete. `return()` of an unfinished iterator
 * is always called.
 */
export async function writeStream(exchange: Exchange, reply: Reply, { kind, frames }: StreamBody): Promise<void> {
  const { outgoing, settings } = exchange
  const iterator = frames[Symbol.asyncIterator]()
  let finished = false
  let closed = outgoing.destroyed
  let wake: (() => void) | undefined
  const onClose = () => {
    closed = true
    wake?.()
  }
  const untilClosed = <T>(subscribe: (resolve: (value: T) => void, reject: (error: unknown) => void) => unknown) =>
    new Promise<T | undefined>((resolve, reject) => {
      wake = () => resolve(undefined)
      subscribe(resolve, reject)
    })
  const next = () => untilClosed<IteratorResult<Frames>>((resolve, reject) => iterator.next().then(resolve, reject))
  const drained = async () => {
    const stalled = setTimeout(() => {
      settings.logger.warn({ request_id: exchange.requestId }, 'closed a stream because its reader stalled')
      outgoing.destroy()
    }, settings.stallTimeoutMs)
    await untilClosed<true>((resolve) => outgoing.once('drain', () => resolve(true)))
    clearTimeout(stalled)
  }
  outgoing.once('close', onClose)
  let beat: NodeJS.Timeout | undefined
  try {
    if (closed) return
    if (exchange.method === 'HEAD') {
      writeStreamHead(exchange, reply)
      outgoing.end()
      return
    }
    let result = await next()
    if (result === undefined || closed) return
    writeStreamHead(exchange, reply)
    if (kind === 'sse') {
      beat = setTimeout(() => {
        if (!outgoing.writableNeedDrain) outgoing.write(heartbeat())
        beat?.refresh()
      }, settings.heartbeatMs)
    }
    while (!result.done) {
      const flows = outgoing.write(result.value)
      // A stalled reader must hold only what the socket buffers.
      result = undefined
      if (!flows && !closed) await drained()
      if (closed) return
      beat?.refresh()
      result = await next()
      if (result === undefined || closed) return
    }
    finished = true
    outgoing.end()
  } catch (error) {
    finished = true
    if (!outgoing.headersSent) throw error
    settings.logger[logLevelOf(error)]({ request_id: exchange.requestId, err: error }, 'a stream failed')
    if (kind === 'sse') outgoing.end()
    else outgoing.destroy()
  } finally {
    clearTimeout(beat)
    outgoing.off('close', onClose)
    if (!finished) leave(exchange, iterator)
  }
}

/** Tells a producer that the reader has left. Not awaited, because the producer may be busy for long. */
export function leave(exchange: Exchange, iterator: AsyncIterator<Frames>): void {
  const { logger } = exchange.settings
  const returned = iterator.return?.()
  returned?.then(undefined, (error: unknown) => {
    logger.debug({ request_id: exchange.requestId, err: error }, 'a stream failed while it was being closed')
  })
}

function writeStreamHead(exchange: Exchange, reply: Reply): void {
  const headers = headOf(exchange, reply)
  headers.push('Cache-Control', 'no-store', 'X-Accel-Buffering', 'no')
  exchange.outgoing.writeHead(reply.status, headers)
  exchange.status = reply.status
}
