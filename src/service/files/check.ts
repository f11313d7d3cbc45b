import { AppError, type ErrorCode, invalid } from '../../core/error.ts'
import { isWebAddress } from '../../core/file.ts'
import { type Limits, shownBytes } from '../../core/limits.ts'
import type { FilePart, GivenPart, UploadedFilePart } from '../../core/message.ts'
import { fromBase64 } from '../../runtime/base64.ts'

export type FileBounds = Pick<Limits, 'fileBytes' | 'run'>

const maxCharacters = 255
const token = "[\\w!#$%&'*+.^`|~-]+"
const mediaType = new RegExp(`^${token}/${token}(?:[ \\t]*;[ \\t]*${token}=(?:${token}|"[\\x20\\x21\\x23-\\x7e]*"))*$`)

/** Why a file part can't be taken: a sentence whose subject is `field`. */
export interface FileProblem {
  code: ErrorCode
  field: 'media_type' | 'name' | 'data' | 'url' | 'file_id'
  message: string
}

export function isUpload(part: GivenPart): part is UploadedFilePart {
  return part.type === 'file' && 'data' in part && part.data !== undefined
}

export function hasFiles(parts: readonly GivenPart[]): boolean {
  return parts.some(({ type }) => type === 'file')
}

/** Checks the name, the type and the address, which untyped code and clients give. */
export function problemOfFile(part: UploadedFilePart | FilePart): FileProblem | undefined {
  const { media_type, name } = part
  const bad = (field: FileProblem['field'], message: string): FileProblem => ({
    code: 'invalid_request',
    field,
    message,
  })
  if (typeof media_type !== 'string' || media_type.length > maxCharacters || !mediaType.test(media_type))
    return bad('media_type', 'must be a media type, as in image/png')
  if (name !== undefined && (typeof name !== 'string' || name === '' || name.length > maxCharacters))
    return bad('name', `must be a text of 1 to ${maxCharacters} characters`)
  if (!('url' in part) || part.url === undefined) return undefined
  return isWebAddress(part.url) ? undefined : bad('url', 'must be an http or https address')
}

/** The content of an upload, or what is wrong with it. */
export function contentOfUpload(data: unknown, { fileBytes }: FileBounds): Uint8Array | FileProblem {
  const bytes = typeof data === 'string' ? fromBase64(data) : data instanceof Uint8Array ? data : undefined
  if (bytes === undefined) return { code: 'invalid_request', field: 'data', message: 'must be base64' }
  if (bytes.byteLength === 0) return { code: 'invalid_request', field: 'data', message: 'must not be empty' }
  if (bytes.byteLength <= fileBytes) return bytes
  return { code: 'payload_too_large', field: 'data', message: tooLarge(bytes.byteLength, fileBytes) }
}

/** The end of a sentence about a file. */
export function tooLarge(size: number, limit: number): string {
  return `has ${shownBytes(size)}, and the limit \`fileSize\` is ${shownBytes(limit)}. Send a smaller file, or raise \`server.limits.fileSize\`.`
}

export function tooManyFiles(count: number, { run }: FileBounds, path: string): AppError {
  return invalid(
    `The input and history have ${count} files, and the limit \`run.files\` is ${run.files}. Send fewer, or raise \`server.limits.run.files\`.`,
    path,
  )
}

/** `at`: the path of the part. */
export function toInputError({ code, field, message }: FileProblem, at: string): AppError {
  const path = `${at}.${field}`
  return new AppError(code, `${path} ${message}${message.endsWith('.') ? '' : '.'}`, { details: [{ path, message }] })
}
