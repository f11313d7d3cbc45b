import { AppError, invalid } from '../../core/error.ts'
import { yieldToLoop } from '../../runtime/yield.ts'
import type { Incoming } from '../exchange.ts'
import type { BodyReader, LineOptions, MultipartPart } from '../request.ts'
import type { BodyLease } from './budget.ts'
import { parseJson, parseLarge } from './json-guard.ts'
import { linesOf } from './lines.ts'
import { decodeText, isJsonType, mediaTypeOf } from './media-type.ts'
import { alreadyRead, piecesOf, tooLarge, tooSlow } from './pieces.ts'

export interface BodySize {
  maxBytes: number
  /** Whether the route has set `maxBytes`, which no setting changes. */
  isOfRoute: boolean
}

export interface BodyLimits extends BodySize {
  timeoutMs: number
}

const nothing = Buffer.alloc(0)
const largeBytes = 1024 * 1024

/** Whether the headers announce a body (RFC 9112 6.3). */
function announcesBody(incoming: Incoming): boolean {
  const length = incoming.headers['content-length']
  return (length !== undefined && length !== '0') || incoming.headers['transfer-encoding'] !== undefined
}

/** Throws `payload_too_large` when Content-Length exceeds the limit. */
export function refuseAnnouncedSize(incoming: Incoming, size: BodySize): void {
  const length = incoming.headers['content-length']
  if (length !== undefined && Number(length) > size.maxBytes) throw tooLarge(size)
}

export interface BodyContext extends BodyLimits {
  /** The body's share of the memory of all bodies; created when it is first read. */
  lease(): BodyLease
  /** Called once, before the first byte is requested. */
  beforeRead(): void
  /** Called for each piece of a body that is read line by line. */
  onProgress(): void
}

export class RequestBody implements BodyReader {
  readonly #incoming: Incoming
  readonly #context: BodyContext
  #read: Promise<Buffer> | undefined
  #lease: BodyLease | undefined
  #bytes = 0
  #isReleased = false
  #stop: ((error: AppError) => void) | undefined

  constructor(incoming: Incoming, context: BodyContext) {
    this.#incoming = incoming
    this.#context = context
  }

  get present(): boolean {
    return announcesBody(this.#incoming)
  }

  get mediaType(): string | undefined {
    return this.present ? mediaTypeOf(this.#incoming.headers['content-type']) : undefined
  }

  bytes(): Promise<Buffer> {
    this.#read ??= this.#start()
    return this.#read
  }

  async *lines({ maxLineBytes, onBytes }: LineOptions): AsyncGenerator<string> {
    if (!this.present) return
    const lease = this.#begin()
    const keep = (bytes: number) => {
      if (lease.take(bytes)) return undefined
      return new Promise<void>((resolve, reject) => lease.wait(bytes, resolve, reject))
    }
    const pieces = piecesOf(this.#incoming, this.#context, {
      onStop: (stop) => {
        this.#stop = stop
      },
      onPiece: (piece) => {
        onBytes?.(piece)
        this.#context.onProgress()
      },
    })
    const forget = (bytes: number) => lease.give(bytes)
    yield* linesOf(pieces, this.#incoming.headers['content-type'], { maxLineBytes, keep, forget })
  }

  /** Frees the bytes; they can't be read again. */
  release(): void {
    if (this.#read !== undefined) {
      this.#isReleased = true
      this.#read = undefined
    }
    this.#lease?.release()
  }

  async text(): Promise<string> {
    const bytes = await this.bytes()
    if (this.#isLarge) await yieldToLoop()
    return decodeText(bytes, this.#incoming.headers['content-type'])
  }

  async json(): Promise<unknown> {
    if (!this.present) return undefined
    const type = this.mediaType
    if (type !== undefined && !isJsonType(type)) {
      throw new AppError('unsupported_media_type', `Content-Type must be application/json, not ${type}.`)
    }
    const text = await this.text()
    if (text === '') return undefined
    if (!this.#isLarge) return parseJson(text)
    await yieldToLoop()
    const value = await parseLarge(text)
    await yieldToLoop()
    return value
  }

  async multipart(): Promise<MultipartPart[]> {
    const contentType = this.#incoming.headers['content-type']
    if (contentType === undefined || this.mediaType !== 'multipart/form-data') {
      throw new AppError('unsupported_media_type', 'Content-Type must be multipart/form-data.')
    }
    const body = await this.bytes()
    const { parseMultipart } = await import('./multipart.ts')
    return await parseMultipart(body, contentType)
  }

  /** Aborts an active read, because the connection is broken. */
  abort(error: AppError): void {
    this.#stop?.(error)
  }

  /** Each step of reading it takes milliseconds. */
  get #isLarge(): boolean {
    return this.#bytes > largeBytes
  }

  #start(): Promise<Buffer> {
    if (!this.present) return Promise.resolve(nothing)
    if (this.#isReleased)
      return Promise.reject(new Error('The body was already released. Keep what you have read of it.'))
    return this.#collect(this.#begin())
  }

  #begin(): BodyLease {
    this.#context.beforeRead()
    this.#lease ??= this.#context.lease()
    return this.#lease
  }

  #collect(lease: BodyLease): Promise<Buffer> {
    const incoming = this.#incoming
    const { maxBytes, timeoutMs } = this.#context
    const reading = Promise.withResolvers<Buffer>()
    // The listeners stay with the request. They forget the bytes, which others may release long before it ends.
    let settle: typeof reading | undefined = reading
    let first: Buffer | undefined
    let chunks: Buffer[] | undefined
    let size = 0
    const stop = (error: AppError) => {
      clearTimeout(timer)
      incoming.off('data', onData).off('end', onEnd).off('close', onClose)
      incoming.pause()
      first = undefined
      chunks = undefined
      lease.release()
      settle?.reject(error)
      settle = undefined
    }
    this.#stop = stop
    const keep = (chunk: Buffer) => {
      if (first === undefined) first = chunk
      else if (chunks === undefined) chunks = [first, chunk]
      else chunks.push(chunk)
    }
    const onData = (chunk: Buffer) => {
      size += chunk.length
      if (size > maxBytes) return stop(tooLarge(this.#context))
      if (lease.take(chunk.length)) return keep(chunk)
      incoming.pause()
      // While the server has no room, the client's timeout must not run.
      clearTimeout(timer)
      const leftMs = endsAtMs - performance.now()
      const goOn = () => {
        keep(chunk)
        startTimer(leftMs)
        incoming.resume()
      }
      lease.wait(chunk.length, goOn, stop)
    }
    const onEnd = () => {
      clearTimeout(timer)
      incoming.off('close', onClose)
      this.#bytes = size
      settle?.resolve(chunks === undefined ? (first ?? nothing) : Buffer.concat(chunks, size))
      settle = undefined
      first = undefined
      chunks = undefined
    }
    const onClose = () => stop(invalid('The body ended before it was complete.'))
    let timer: NodeJS.Timeout | undefined
    let endsAtMs = 0
    const startTimer = (ms: number) => {
      endsAtMs = performance.now() + ms
      timer = setTimeout(() => stop(tooSlow(timeoutMs)), ms)
    }
    startTimer(timeoutMs)
    incoming.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose)
    if (incoming.readableEnded) stop(alreadyRead())
    else if (incoming.destroyed) onClose()
    return reading.promise
  }
}
