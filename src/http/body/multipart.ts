import { Busboy, type BusboyFileStream } from '@fastify/busboy'
import { AppError, invalid } from '../../core/error.ts'
import { shownBytes } from '../../core/limits.ts'
import type { MultipartPart } from '../request.ts'
import { parameterOf } from './media-type.ts'

const maxBoundaryChars = 70
const limits = { parts: 128, fields: 120, files: 120, headerPairs: 32, headerSize: 16 * 1024, fieldSize: 1024 * 1024 }
/** The whole body is in memory, so parsing takes moments; only a body that the parser never finishes takes longer. */
const parseTimeoutMs = 10_000

/**
 * The parts of a multipart/form-data body, in order. File names are labels without control characters, never paths. A
 * malformed or truncated body is `invalid_request`; too many or too large parts are `payload_too_large`.
 */
export async function parseMultipart(body: Uint8Array, contentType: string): Promise<MultipartPart[]> {
  const boundary = parameterOf(contentType, 'boundary')
  if (boundary === undefined || boundary === '' || boundary.length > maxBoundaryChars) {
    throw invalid(`The Content-Type needs a boundary of 1 to ${maxBoundaryChars} characters.`)
  }
  const { promise, resolve, reject } = Promise.withResolvers<MultipartPart[]>()
  const parser = createParser(contentType)
  const refuse = (error: AppError) => {
    reject(error)
    parser.destroy()
  }
  const timer = setTimeout(() => refuse(malformed('the closing boundary is missing')), parseTimeoutMs)
  const parts: (MultipartPart | undefined)[] = []
  parser.on('field', (name, value, _nameTruncated, truncated) => {
    if (typeof name !== 'string') return refuse(malformed('a part has no name'))
    if (truncated) return refuse(tooLarge(`The field '${label(name)}' is larger than ${shownBytes(limits.fieldSize)}.`))
    parts.push({ kind: 'field', name, value })
  })
  parser.on('file', (name, stream, filename, _encoding, mediaType) => {
    if (typeof name !== 'string') refuse(malformed('a part has no name'))
    const at = parts.push(undefined) - 1
    collect(stream, (bytes) => {
      parts[at] = { kind: 'file', name, filename: label(filename ?? ''), mediaType, bytes }
    })
  })
  for (const event of ['partsLimit', 'filesLimit', 'fieldsLimit'] as const) {
    parser.on(event, () => refuse(tooLarge('The body has too many parts.')))
  }
  parser.on('error', (error) => refuse(malformed(error instanceof Error ? error.message : 'it cannot be parsed')))
  parser.on('finish', () => {
    const whole = parts.filter((part) => part !== undefined)
    if (whole.length === parts.length) resolve(whole)
    else refuse(malformed('a file is cut off'))
  })
  try {
    parser.end(body)
    return await promise
  } finally {
    clearTimeout(timer)
  }
}

function createParser(contentType: string) {
  try {
    return new Busboy({ headers: { 'content-type': contentType }, preservePath: true, limits })
  } catch (error) {
    throw malformed(error instanceof Error ? error.message : 'it cannot be parsed')
  }
}

function collect(stream: BusboyFileStream, done: (bytes: Uint8Array) => void): void {
  const chunks: Buffer[] = []
  let failed = false
  stream.on('data', (chunk: Buffer) => chunks.push(chunk))
  stream.on('error', () => {
    failed = true
  })
  stream.on('end', () => {
    if (!failed) done(Buffer.concat(chunks))
  })
}

function label(text: string): string {
  return text.replace(/\p{Cc}/gu, '')
}

function malformed(reason: string): AppError {
  return invalid(`The multipart body cannot be read: ${reason}.`)
}

function tooLarge(message: string): AppError {
  return new AppError('payload_too_large', message)
}
