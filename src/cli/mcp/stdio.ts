import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import type { JSONRPCMessage, McpServerFactory, RequestId, Transport } from '@modelcontextprotocol/server'
import { messageOf } from '../../core/error.ts'
import { Lines } from './lines.ts'

export interface StdioOptions {
  input: Readable
  output: Writable
  /** Of one message. */
  maxBytes: number
  /** Called once, after the first message was sent. */
  onFirstSent: () => void
  onError: (error: Error) => void
}

export interface StdioConnection {
  /** Resolves when the host has closed its end. */
  readonly ended: Promise<void>
  close(): Promise<void>
}

/** How long requests that came before the end of the input may still take. */
const lastAnswersMs = 1_000

/** Serves one host over lines of JSON, in both eras of the protocol. Loads the SDK. */
export async function serveStdio(factory: McpServerFactory, options: StdioOptions): Promise<StdioConnection> {
  const [sdk, { serveStdio: serve }] = await Promise.all([
    import('@modelcontextprotocol/server'),
    import('@modelcontextprotocol/server/stdio'),
  ])
  const transport = new LineTransport(options, sdk)
  const handle = serve(factory, { transport, onerror: options.onError })
  return { ended: transport.ended, close: () => handle.close() }
}

type Sdk = Pick<
  typeof import('@modelcontextprotocol/server'),
  'parseJSONRPCMessage' | 'isJSONRPCRequest' | 'isJSONRPCResultResponse' | 'isJSONRPCErrorResponse'
>

/**
 * Unlike the SDK's own transport, it survives a message that is too large, answers what is no message, and at the end of the
 * input lets the last requests be answered.
 */
class LineTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void
  readonly #options: StdioOptions
  readonly #sdk: Sdk
  readonly #lines: Lines
  /** Ids of requests that have no answer yet. */
  readonly #waiting = new Set<RequestId>()
  readonly #ended = Promise.withResolvers<void>()
  #timer: NodeJS.Timeout | undefined
  #hasSent = false
  #isOver = false
  #isClosed = false

  constructor(options: StdioOptions, sdk: Sdk) {
    this.#options = options
    this.#sdk = sdk
    const tooLong = `The message has more than ${options.maxBytes} bytes.`
    this.#lines = new Lines(
      options.maxBytes,
      (line) => this.#receive(line),
      () => this.#refuse(-32_600, tooLong),
    )
  }

  get ended(): Promise<void> {
    return this.#ended.promise
  }

  async start(): Promise<void> {
    const { input, output } = this.#options
    input.on('data', this.#onData).on('end', this.#onEnd).on('close', this.#onEnd).on('error', this.#onEnd)
    // Without a reader nobody is there any more.
    output.on('error', this.#onGone).on('close', this.#onGone)
    if (input.readableEnded || input.destroyed) setImmediate(this.#onEnd)
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#isClosed) return
    const { isJSONRPCResultResponse, isJSONRPCErrorResponse } = this.#sdk
    await this.#write(message)
    if ((isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message)) && message.id !== undefined)
      this.#settle(message.id)
    if (this.#hasSent) return
    this.#hasSent = true
    this.#options.onFirstSent()
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    clearTimeout(this.#timer)
    const { input, output } = this.#options
    input.off('data', this.#onData).off('end', this.#onEnd).off('close', this.#onEnd).off('error', this.#onEnd)
    input.pause()
    output.off('close', this.#onGone)
    this.onclose?.()
    this.#ended.resolve()
  }

  readonly #onData = (bytes: Buffer) => this.#lines.add(bytes)

  readonly #onEnd = () => {
    if (this.#isOver) return
    this.#isOver = true
    if (this.#waiting.size === 0) this.#ended.resolve()
    else this.#timer = setTimeout(() => this.#ended.resolve(), lastAnswersMs)
  }

  readonly #onGone = () => this.#ended.resolve()

  #receive(line: string): void {
    if (this.#isClosed) return
    let message: JSONRPCMessage
    try {
      message = this.#sdk.parseJSONRPCMessage(JSON.parse(line))
    } catch (error) {
      if (error instanceof SyntaxError) this.#refuse(-32_700, `The line is no JSON: ${messageOf(error)}`)
      else this.#refuse(-32_600, 'The line is no JSON-RPC message.')
      return
    }
    if (this.#sdk.isJSONRPCRequest(message)) this.#waiting.add(message.id)
    else if ('method' in message && message.method === 'notifications/cancelled') this.#cancelled(message.params)
    this.onmessage?.(message)
  }

  /** A cancelled request gets no answer. */
  #cancelled(params: Record<string, unknown> | undefined): void {
    const id = params?.requestId
    if (typeof id === 'string' || typeof id === 'number') this.#settle(id)
  }

  #settle(id: RequestId): void {
    this.#waiting.delete(id)
    if (this.#isOver && this.#waiting.size === 0) this.#ended.resolve()
  }

  /** Which request it was can't be known. */
  #refuse(code: number, message: string): void {
    this.#options.onError(new Error(message))
    this.#write({ jsonrpc: '2.0', id: null, error: { code, message } }).catch(this.#options.onError)
  }

  async #write(message: object): Promise<void> {
    const { output } = this.#options
    if (!output.writable) return
    if (output.write(`${JSON.stringify(message)}\n`)) return
    const gone = new AbortController()
    const leave = () => gone.abort()
    output.once('close', leave)
    try {
      await once(output, 'drain', { signal: gone.signal })
    } catch {
      // Nobody reads any more.
      this.#ended.resolve()
    } finally {
      output.off('close', leave)
    }
  }
}
