import { EventEmitter } from 'node:events'
import type { IncomingHttpHeaders } from 'node:http'
import { Readable } from 'node:stream'
import type { Incoming, Outgoing } from './exchange.ts'
import type { InjectRequest, InjectResponse } from './request.ts'

const bufferedBytes = 64 * 1024

/** A request without a socket, for the same pipeline. */
export class InjectedRequest extends Readable implements Incoming {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly rawHeaders: readonly string[]
  readonly socket = undefined
  readonly #source: AsyncIterator<unknown> | undefined

  constructor(request: InjectRequest) {
    super()
    const body = typeof request.body === 'string' ? Buffer.from(request.body) : request.body
    const headers: Record<string, string> = { host: 'localhost' }
    if (body instanceof Readable) headers['transfer-encoding'] = 'chunked'
    else if (body !== undefined) headers['content-length'] = String(body.byteLength)
    for (const [name, value] of Object.entries(request.headers ?? {})) headers[name.toLowerCase()] = value
    this.method = (request.method ?? 'GET').toUpperCase()
    this.url = request.url
    this.headers = headers
    this.rawHeaders = Object.entries(headers).flat()
    if (body instanceof Readable) this.#source = body[Symbol.asyncIterator]()
    else if (body !== undefined) this.push(body)
    if (this.#source === undefined) this.push(null)
    this.on('error', () => {})
  }

  get complete(): boolean {
    return this.readableEnded
  }

  override _read(): void {
    this.#source?.next().then(
      ({ done, value }) => this.push(done ? null : Buffer.from(value as Uint8Array | string)),
      (error: Error) => this.destroy(error),
    )
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#source?.return?.().then(undefined, () => {})
    callback(error)
  }
}

/** Buffers at most 64 KB of an unread reply; then the writer waits, as it does for a socket. */
export class CapturedResponse extends EventEmitter implements Outgoing {
  headersSent = false
  destroyed = false
  writableFinished = false
  writableNeedDrain = false
  /** Resolves when the head is written; rejects where a connection would be cut before. */
  readonly response: Promise<InjectResponse>
  readonly #bodiless: boolean
  readonly #resolve: (response: InjectResponse) => void
  readonly #reject: (error: Error) => void
  #chunks: Uint8Array[] = []
  #bytes = 0
  #wake: (() => void) | undefined

  constructor(method: string) {
    super()
    this.#bodiless = method === 'HEAD'
    const { promise, resolve, reject } = Promise.withResolvers<InjectResponse>()
    this.response = promise
    this.#resolve = resolve
    this.#reject = reject
  }

  writeHead(status: number, flat: string[]): void {
    this.headersSent = true
    const headers: Record<string, string> = {}
    for (let index = 0; index < flat.length; index += 2) {
      const name = (flat[index] ?? '').toLowerCase()
      const value = flat[index + 1] ?? ''
      headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`
    }
    const body = this.#body()
    const text = async () => {
      const chunks: Uint8Array[] = []
      for await (const chunk of body) chunks.push(chunk)
      return Buffer.concat(chunks).toString('utf8')
    }
    this.#resolve({ status, headers, body, text, json: async () => JSON.parse(await text()) })
  }

  writeContinue(): void {}

  write(chunk: string | Uint8Array): boolean {
    if (this.destroyed || this.#bodiless) return true
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
    this.#chunks.push(bytes)
    this.#bytes += bytes.byteLength
    this.#wake?.()
    this.writableNeedDrain = this.#bytes >= bufferedBytes
    return !this.writableNeedDrain
  }

  end(chunk?: string | Uint8Array): void {
    if (this.destroyed || this.writableFinished) return
    if (chunk !== undefined) this.write(chunk)
    this.writableFinished = true
    this.#wake?.()
    this.emit('close')
  }

  destroy(): void {
    if (this.destroyed || this.writableFinished) return
    this.destroyed = true
    this.#reject(new Error('The request was aborted before it was answered.'))
    this.#wake?.()
    this.emit('close')
  }

  async *#body(): AsyncGenerator<Uint8Array> {
    try {
      while (true) {
        const chunks = this.#chunks
        this.#chunks = []
        this.#bytes = 0
        if (this.writableNeedDrain) {
          this.writableNeedDrain = false
          this.emit('drain')
        }
        yield* chunks
        if (this.#chunks.length > 0) continue
        if (this.writableFinished) return
        if (this.destroyed) throw new Error('The reply was cut off.')
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
      }
    } finally {
      this.destroy()
    }
  }
}
