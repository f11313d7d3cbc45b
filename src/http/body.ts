import { AppError, invalid } from '../core/error.ts'
import { nextTurn } from '../core/turn.ts'
import type { Incoming } from './exchange.ts'
import { parseJson, parseJsonInTurns } from './json-guard.ts'
import { decodeText, isJsonType, mediaTypeOf } from './media-type.ts'
import type { BodyReader, MultipartPart } from './request.ts'

export interface BodyLimits {
  maxBytes: number
  timeoutMs: number
}

const nothing = Buffer.alloc(0)
const largeBytes = 1024 * 1024

/** Whether the headers announce a body (RFC 9112 6.3). */
export function announcesBody(incoming: Incoming): boolean {
  const length = incoming.headers['content-length']
  return (length !== undefined && length !== '0') || incoming.headers['transfer-encoding'] !== undefined
}

/** Throws `payload_too_large` when an honest Content-Length says that the body is. */
export function refuseAnnouncedSize(incoming: Incoming, maxBytes: number): void {
  const length = incoming.headers['content-length']
  if (length !== undefined && Number(length) > maxBytes) throw tooLarge(maxBytes)
}

export class RequestBody implements BodyReader {
  readonly #incoming: Incoming
  readonly #limits: BodyLimits
  readonly #beforeRead: () => void
  #read: Promise<Buffer> | undefined
  #bytes = 0
  #stop: ((error: AppError) => void) | undefined

  constructor(incoming: Incoming, limits: BodyLimits, beforeRead: () => void) {
    this.#incoming = incoming
    this.#limits = limits
    this.#beforeRead = beforeRead
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

  async text(): Promise<string> {
    const bytes = await this.bytes()
    if (this.isLarge) await nextTurn()
    return decodeText(bytes, this.#incoming.headers['content-type'])
  }

  async json(): Promise<unknown> {
    if (!this.present) return undefined
    const type = this.mediaType
    if (type !== undefined && !isJsonType(type)) {
      throw new AppError('unsupported_media_type', `This route takes application/json, not ${type}.`)
    }
    const text = await this.text()
    if (text === '') return undefined
    if (!this.isLarge) return parseJson(text)
    await nextTurn()
    const value = await parseJsonInTurns(text)
    await nextTurn()
    return value
  }

  /** Whether each thing that is done with it takes milliseconds. */
  get isLarge(): boolean {
    return this.#bytes > largeBytes
  }

  async multipart(): Promise<MultipartPart[]> {
    const contentType = this.#incoming.headers['content-type']
    if (contentType === undefined || this.mediaType !== 'multipart/form-data') {
      throw new AppError('unsupported_media_type', 'This route takes multipart/form-data.')
    }
    const body = await this.bytes()
    const { parseMultipart } = await import('./multipart.ts')
    return await parseMultipart(body, contentType)
  }

  /** Ends a read that is under way: the connection has turned out to be broken. */
  abort(error: AppError): void {
    this.#stop?.(error)
  }

  #start(): Promise<Buffer> {
    if (!this.present) return Promise.resolve(nothing)
    this.#beforeRead()
    return this.#collect(this.#incoming, this.#limits)
  }

  #collect(incoming: Incoming, { maxBytes, timeoutMs }: BodyLimits): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      let first: Buffer | undefined
      let chunks: Buffer[] | undefined
      let size = 0
      const stop = (error: AppError) => {
        clearTimeout(timer)
        incoming.off('data', onData).off('end', onEnd).off('close', onClose)
        incoming.pause()
        reject(error)
      }
      this.#stop = stop
      const onData = (chunk: Buffer) => {
        size += chunk.length
        if (size > maxBytes) return stop(tooLarge(maxBytes))
        if (first === undefined) first = chunk
        else if (chunks === undefined) chunks = [first, chunk]
        else chunks.push(chunk)
      }
      const onEnd = () => {
        clearTimeout(timer)
        incoming.off('close', onClose)
        this.#bytes = size
        resolve(chunks === undefined ? (first ?? nothing) : Buffer.concat(chunks, size))
      }
      const onClose = () => stop(invalid('The body ended before it was complete.'))
      const timer = setTimeout(
        () => stop(new AppError('request_timeout', `The body did not arrive within ${timeoutMs} ms.`)),
        timeoutMs,
      )
      incoming.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose)
      if (incoming.destroyed) onClose()
    })
  }
}

function tooLarge(maxBytes: number): AppError {
  return new AppError('payload_too_large', `The body is larger than ${maxBytes} bytes.`)
}
