import { createServer, type RequestListener, type Server } from 'node:http'
import { Server as Listener, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { answerRaw, parseError } from './client-error.ts'
import { CapturedResponse, InjectedRequest } from './inject.ts'
import { type Bound, bind, bindSocket, type ListenAddress } from './listen.ts'
import { type KernelOptions, type KernelSettings, resolveKernelOptions } from './options.ts'
import { createPipeline, type Pipeline } from './pipeline.ts'
import type { InjectRequest, InjectResponse } from './request.ts'
import type { Route } from './router.ts'
import { createRouteTable } from './router.ts'

/* HTTP over node:http: requests go to handlers as plain values, handlers return replies. Knows nothing about agents. */

const longestRequestMs = 60 * 60_000

export interface Kernel {
  /** Replaces all routes at once; active requests keep theirs. Of equal routes the later wins. */
  setRoutes(routes: Iterable<Route>): void
  /** For another `http.createServer`, which must set its own header and time limits. */
  handle: RequestListener
  /** The same pipeline with no socket. Host is `localhost` unless given. */
  inject(request: InjectRequest): Promise<InjectResponse>
  /** On an address, or on a Unix socket. */
  listen(address: ListenAddress | { path: string }): Promise<Bound>
  /** The ids of requests whose answer is not complete. */
  requestIds(): string[]
  /** From now on, refusals say that another server will answer. */
  leave(): void
  /** Connections close after their next answer. */
  startDraining(): void
  /** Takes no new connections. Those that are there are served. */
  stopAccepting(): void
  /**
   * Stops accepting and closes idle connections. Active requests get the deadline, then they are cut. Producers of
   * streams should have ended them before. Resolves when every connection is closed.
   */
  close(options: { deadlineMs: number }): Promise<void>
}

export function createKernel(options: KernelOptions): Kernel {
  const settings = resolveKernelOptions(options)
  const pipeline = createPipeline(settings)
  let server: Server | undefined
  const sockets = new Set<Socket>()
  let closing: Promise<void> | undefined
  const inject = async (request: InjectRequest): Promise<InjectResponse> => {
    request.signal?.throwIfAborted()
    const incoming = new InjectedRequest(request)
    const outgoing = new CapturedResponse(incoming.method)
    const leave = () => outgoing.destroy()
    request.signal?.addEventListener('abort', leave, { once: true })
    outgoing.once('close', () => {
      request.signal?.removeEventListener('abort', leave)
      incoming.destroy()
    })
    pipeline.serve(incoming, outgoing, false)
    try {
      return await outgoing.response
    } catch (error) {
      request.signal?.throwIfAborted()
      throw error
    }
  }
  let closed: Promise<void> | undefined
  const stopAccepting = (): Promise<void> => {
    const open = server
    // Not `open.close`, which cuts idle connections too: the next request of a proxy may be on its way on one of them.
    closed ??=
      open === undefined
        ? Promise.resolve()
        : new Promise((resolve) => Listener.prototype.close.call(open, () => resolve()))
    return closed
  }
  const shutDown = async (deadlineMs: number): Promise<void> => {
    const closed = stopAccepting()
    server?.close()
    pipeline.startClosing(() => server?.closeIdleConnections())
    // node counts a connection without any bytes as busy.
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy()
    const timer = setTimeout(() => {
      pipeline.cut()
      server?.closeAllConnections()
    }, deadlineMs)
    await pipeline.idle()
    await closed
    clearTimeout(timer)
    pipeline.close()
  }
  return {
    setRoutes(routes) {
      pipeline.setTable(createRouteTable(routes))
    },
    handle: (request, response) => pipeline.serve(request, response, false),
    requestIds: () => pipeline.requestIds(),
    inject,
    leave: () => pipeline.leave(),
    startDraining: () => pipeline.startDraining(),
    // After the connections that the system has accepted: those would be reset.
    stopAccepting: () => void setImmediate(stopAccepting),
    async listen(address) {
      pipeline.setBoundHost('path' in address ? 'localhost' : address.host)
      server = openServer(settings, pipeline)
      server.on('connection', (socket) => {
        sockets.add(socket)
        socket.once('close', () => sockets.delete(socket))
      })
      const bound = await ('path' in address ? bindSocket(server, address.path) : bind(server, address))
      server.on('error', (error) => settings.logger.error({ error }, 'a connection could not be accepted'))
      return bound
    },
    close({ deadlineMs }) {
      closing ??= shutDown(deadlineMs)
      return closing
    },
  }
}

function openServer(settings: KernelSettings, pipeline: Pipeline): Server {
  const server = createServer(
    {
      headersTimeout: settings.headersTimeoutMs,
      // Bodies have their own limits while they are read and after the answer; an import may take long.
      requestTimeout: Math.max(longestRequestMs, settings.headersTimeoutMs),
      keepAliveTimeout: settings.keepAliveTimeoutMs,
      connectionsCheckingInterval: settings.connectionsCheckingIntervalMs,
      // The pipeline answers this error itself, with the standard body.
      requireHostHeader: false,
    },
    (request, response) => pipeline.serve(request, response, false),
  )
  // One more than allowed: node would silently drop a header above its own limit.
  server.maxHeadersCount = settings.maxHeaders + 1
  server.maxConnections = settings.limits.connections
  server.on('checkContinue', (request, response) => pipeline.serve(request, response, true))
  server.on('checkExpectation', (request, response) => pipeline.serve(request, response, false))
  server.on('clientError', (error: NodeJS.ErrnoException & { rawPacket?: Buffer }, socket: Duplex) => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy()
      return
    }
    const refusal = parseError(error)
    if (!pipeline.interrupt(socket, refusal)) answerRaw(socket, refusal, settings.clock(), error.rawPacket)
  })
  return server
}
