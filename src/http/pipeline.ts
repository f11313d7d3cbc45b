import { leavingHeader } from '../core/access/server-proof.ts'
import { AppError, toAppError } from '../core/error.ts'
import { DenseMap } from '../runtime/dense-map.ts'
import { encodeLarge, isLarge } from '../runtime/json.ts'
import { yieldToLoop } from '../runtime/yield.ts'
import { createAdmit } from './admission.ts'
import { BodyBudget } from './body/budget.ts'
import { errorHeaders, errorReply } from './error.ts'
import { Exchange, type Incoming, type Outgoing } from './exchange.ts'
import { isNavigation } from './navigation.ts'
import type { KernelSettings } from './options.ts'
import { isStream, type Reply } from './reply.ts'
import { createRouteTable, type RouteTable } from './router.ts'
import { createAddressOf, createIsProxy } from './security/address.ts'
import { credentialOf } from './security/auth.ts'
import { createWrongKeys } from './security/wrong-keys.ts'
import { leave, writeStream } from './stream.ts'
import { jsonType, writePlain } from './writer.ts'

/** Handles every request, with or without a socket. */
export interface Pipeline {
  setTable(table: RouteTable): void
  /** The bound host decides which Host headers are accepted. */
  setBoundHost(host: string | undefined): void
  /** Never throws: every outcome is an answer or a closed connection. */
  serve(incoming: Incoming, outgoing: Outgoing, awaitsContinue: boolean): void
  /**
   * Handles an error of a socket: answers with it instead of the latest request's handler, or cuts a started answer. A
   * request that arrived completely is still answered, as the last one. False when the socket has no active request.
   */
  interrupt(socket: object, error: AppError): boolean
  /** From now on, refusals with `unavailable` say that another server will answer. */
  leave(): void
  /** Connections close after their answer: proxies that keep them find out in time, and open new ones elsewhere. */
  startDraining(): void
  /** New requests are `unavailable`, connections close after their answer. */
  startClosing(onIdle: () => void): void
  requestIds(): string[]
  cut(): void
  /** Resolves when no request is active. */
  idle(): Promise<void>
  /** Writes the last log lines. */
  close(): void
}

const clientLeftStatus = 499
/** A full disk is told of so often. */
const fullAgainMs = 60_000

export function createPipeline(settings: KernelSettings): Pipeline {
  const wrongKeys = createWrongKeys({
    ...settings,
    taken: credentialOf(settings.authKeys, settings.tokens !== undefined),
  })
  const addressOf = createAddressOf(settings.trustProxy)
  const isProxy = createIsProxy(settings.trustProxy)
  let admit = createAdmit(settings, wrongKeys)
  const { logger, debug, clock, onRequest, limits } = settings
  const active = new DenseMap<number, Exchange>()
  /** The latest request of each connection, as long as it is active. */
  const latest = new WeakMap<object, Exchange>()
  /** Active exchanges whose stream has begun. */
  let streams = 0
  const bodies = new BodyBudget({
    totalBytes: limits.bodiesBytes,
    perCallerBytes:
      settings.authKeys.length === 0 && settings.tokens === undefined ? undefined : limits.bodiesPerKeyBytes,
    waitMs: settings.bodyWaitMs,
  })
  let waiting: (() => void)[] = []
  let table = createRouteTable([])
  let whenClosing: (() => void) | undefined
  let isLeaving = false
  let isDraining = false
  let toldFullAt = Number.NEGATIVE_INFINITY

  const done = (exchange: Exchange) => {
    if (!active.delete(exchange.serial)) return
    const { socket } = exchange.incoming
    if (socket !== undefined && latest.get(socket) === exchange) latest.delete(socket)
    const { outgoing, method, path, route, status, requestId, caller, userId } = exchange
    onRequest?.({
      method,
      path,
      route: route?.path,
      status: status === 0 ? clientLeftStatus : status,
      code: exchange.code,
      durationMs: clock() - exchange.startedAt,
      requestId,
      caller,
      userId,
      runId: exchange.runId,
      sessionId: exchange.sessionId,
    })
    exchange.closeUnlessBodyEnds()
    if (whenClosing === undefined) return
    if (outgoing.writableFinished || outgoing.destroyed) setImmediate(whenClosing)
    else outgoing.once('close', () => setImmediate(() => whenClosing?.()))
    if (active.size > 0) return
    for (const resolve of waiting) resolve()
    waiting = []
  }

  const write = (exchange: Exchange, reply: Reply, refusal: boolean): Promise<void> | undefined => {
    exchange.runId = one(reply.headers?.['X-Run-Id']) ?? exchange.runId
    exchange.sessionId = one(reply.headers?.['X-Session-Id']) ?? exchange.sessionId
    if (isDraining || whenClosing !== undefined) exchange.closeConnection = true
    if (isStream(reply.body)) {
      streams++
      return writeStream(exchange, reply, reply.body).finally(() => streams--)
    }
    writePlain(exchange, reply, refusal)
    return undefined
  }

  const fail = async (exchange: Exchange, cause: unknown): Promise<void> => {
    const { outgoing, requestId } = exchange
    const error = toAppError(cause)
    if (outgoing.destroyed) return
    exchange.runId = error.runId
    exchange.sessionId = error.sessionId
    exchange.code = error.code
    if (error.code === 'internal') logInternal(error, exchange)
    if (error.code === 'storage_full') logFull(error, exchange)
    if (outgoing.headersSent) {
      outgoing.destroy()
      return
    }
    try {
      const reply = wordError(error, exchange)
      const says = isLeaving && error.code === 'unavailable'
      await write(exchange, says ? { ...reply, headers: { ...reply.headers, [leavingHeader]: '1' } } : reply, true)
    } catch (secondCause) {
      const second = toAppError(secondCause)
      logInternal(second, exchange)
      if (outgoing.headersSent) outgoing.destroy()
      else writePlain(exchange, errorReply(second, requestId), true)
    }
  }

  const logInternal = (error: AppError, { requestId, method, path }: Exchange) => {
    const cause = error.cause ?? error
    const shown = cause instanceof Error ? { name: cause.name, message: cause.message } : { message: String(cause) }
    const stack = debug && cause instanceof Error ? { stack: cause.stack } : {}
    logger.error({ request_id: requestId, method, path, error: { ...shown, ...stack } }, 'a request failed')
  }

  const logFull = (error: AppError, { requestId, method, path }: Exchange) => {
    const now = clock()
    if (now - toldFullAt < fullAgainMs) return
    toldFullAt = now
    logger.error({ request_id: requestId, method, path, code: error.code }, error.message)
  }

  /** Answers in place of a handler that has not answered. */
  const answerInstead = (exchange: Exchange, error: AppError) => {
    exchange.stopDeadline()
    if (exchange.answered) return
    exchange.answered = true
    void fail(exchange, error).finally(() => done(exchange))
  }

  const drop = (exchange: Exchange, reply: Reply) => {
    if (isStream(reply.body)) leave(exchange, reply.body.frames[Symbol.asyncIterator]())
  }

  const run = async (exchange: Exchange): Promise<void> => {
    let writing = false
    try {
      if (whenClosing !== undefined) throw new AppError('unavailable', 'The server is stopping.')
      const admitted = admit(exchange, table)
      let reply = admitted instanceof Promise ? await admitted : admitted
      // While a token was checked, the client may have left.
      if (exchange.answered || exchange.outgoing.destroyed) return
      if (reply === undefined) {
        if (active.size - streams > limits.requests && exchange.route?.scope !== 'open') throw overloaded()
        if (exchange.route?.takesLong !== true) exchange.startDeadline((error) => answerInstead(exchange, error))
        reply = await exchange.route?.handler(exchange)
        exchange.stopDeadline()
        exchange.releaseBody()
        if (reply === undefined) throw new Error('the handler returned no reply')
        if (reply.body?.kind === 'json' && isLarge(reply.body.value)) reply = await inPieces(reply, reply.body.value)
      }
      if (exchange.answered || exchange.outgoing.destroyed) return drop(exchange, reply)
      exchange.answered = true
      writing = true
      const written = write(exchange, reply, false)
      if (written !== undefined) await written
    } catch (error) {
      exchange.stopDeadline()
      exchange.releaseBody()
      if (exchange.answered && !writing) return
      exchange.answered = true
      await fail(exchange, error)
    }
  }

  return {
    setTable(next) {
      table = next
    },
    setBoundHost(boundHost) {
      admit = createAdmit({ ...settings, boundHost }, wrongKeys)
    },
    serve(incoming, outgoing, awaitsContinue) {
      const exchange = new Exchange(incoming, outgoing, settings, { bodies, addressOf, isProxy }, awaitsContinue)
      active.set(exchange.serial, exchange)
      if (incoming.socket !== undefined) latest.set(incoming.socket, exchange)
      void run(exchange).then(
        () => {
          exchange.releaseBody()
          done(exchange)
        },
        (error: unknown) => {
          exchange.releaseBody()
          logger.error({ request_id: exchange.requestId, err: error }, 'a reply could not be written')
          outgoing.destroy()
          done(exchange)
        },
      )
    },
    interrupt(socket, error) {
      const exchange = latest.get(socket)
      if (exchange === undefined) return false
      // The bytes after a complete request are broken, not the request.
      if (exchange.incoming.complete && !exchange.outgoing.headersSent) exchange.closeConnection = true
      else if (exchange.answered) exchange.outgoing.destroy()
      else {
        exchange.closeConnection = true
        answerInstead(exchange, error)
        exchange.abortBody(error)
      }
      return true
    },
    leave() {
      isLeaving = true
    },
    startDraining() {
      isDraining = true
    },
    startClosing(onIdle) {
      whenClosing = onIdle
    },
    requestIds: () => active.values().map(({ requestId }) => requestId),
    cut() {
      for (const exchange of active.values()) {
        exchange.answered = true
        exchange.outgoing.destroy()
        done(exchange)
      }
    },
    close() {
      wrongKeys.close()
    },
    idle() {
      return active.size === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))
    },
  }
}

async function inPieces(reply: Reply, value: unknown): Promise<Reply> {
  await yieldToLoop()
  return { ...reply, body: { kind: 'stream', frames: encodeLarge(value), mediaType: jsonType } }
}

function one(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' ? header : undefined
}

function overloaded(): AppError {
  return new AppError('unavailable', 'The server is at capacity. Retry later.')
}

function wordError(error: AppError, exchange: Exchange): Reply {
  const { method, headers, requestId, route, settings } = exchange
  const page = isNavigation(method, headers) ? settings.errorPage?.(error, requestId) : undefined
  const reply = page ?? route?.onError?.(error, exchange) ?? errorReply(error, requestId)
  return { ...reply, headers: { ...errorHeaders(error), ...reply.headers } }
}
