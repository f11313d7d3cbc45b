import { constants } from 'node:fs'
import { type FileHandle, open, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { basename, join } from 'node:path'
import { shownBytes } from '../../../core/limits.ts'
import type { UploadedFilePart } from '../../../core/message.ts'
import { UsageError } from '../../command/exit.ts'
import { formatFile } from '../../terminal/message-text.ts'
import { mediaTypeOf } from './media-type.ts'

/** A file for the next message, as its part. */
export type Attachment = (Omit<UploadedFilePart, 'data'> & { data: string; size: number }) | LinkedFile

interface LinkedFile extends Omit<UploadedFilePart, 'data'> {
  url: string
}

/** No server takes more in one request by default, so a larger file is not read. */
const mostBytes = 64 * 1024 * 1024

/** Reads a file, or takes an http(s) address as it is. Throws UsageError. */
export async function readAttachment(place: string): Promise<Attachment> {
  if (/^https?:\/\//i.test(place)) return toLinkedFile(place)
  if (place === '') throw new UsageError('Name a file or an http(s) address to attach.')
  const path = place.startsWith('~/') ? join(homedir(), place.slice(2)) : place
  const bytes = await readBytes(path, place)
  const name = basename(path)
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
  return { type: 'file', media_type: mediaTypeOf(name, bytes), name, data, size: bytes.byteLength }
}

/** All of them, or an error about the first that can't be read. */
export async function readAttachments(places: readonly string[]): Promise<Attachment[]> {
  const files: Attachment[] = []
  for (const place of places) files.push(await readAttachment(place))
  return files
}

function toLinkedFile(place: string): LinkedFile {
  if (!URL.canParse(place)) throw new UsageError(`${place} can't be attached: it is not a valid address.`)
  const { href, pathname } = new URL(place)
  const last = pathname.split('/').at(-1) ?? ''
  const name = last === '' ? {} : { name: decoded(last).slice(0, 255) }
  return { type: 'file', media_type: mediaTypeOf(pathname), ...name, url: href }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

async function readBytes(path: string, place: string): Promise<Uint8Array> {
  let file: FileHandle | undefined
  try {
    // Without O_NONBLOCK, opening a FIFO waits for its writer.
    file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
    const { size } = await readable(file, place)
    const bytes = Buffer.alloc(size)
    let length = 0
    while (length < size) {
      const { bytesRead } = await file.read(bytes, length, size - length, length)
      if (bytesRead === 0) break
      length += bytesRead
    }
    if (length === 0) throw refused(place, 'it is empty')
    return bytes.subarray(0, length)
  } catch (error) {
    throw error instanceof UsageError ? error : refused(place, reasonOf(error))
  } finally {
    await file?.close()
  }
}

async function readable(file: FileHandle, place: string): Promise<{ size: number }> {
  const found = await file.stat()
  if (found.isDirectory()) throw refused(place, 'it is a folder. Attach its files one by one')
  if (!found.isFile()) throw refused(place, 'it is not a regular file')
  if (found.size > mostBytes) {
    throw refused(
      place,
      `it has ${shownBytes(found.size)}. By default a file may have 8 MB (\`server.limits.fileSize\`)`,
    )
  }
  return found
}

function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'there is no such file'
  if (code === 'EACCES' || code === 'EPERM') return 'there is no permission to read it'
  if (code === 'ELOOP') return 'it is a link to itself'
  if (code === 'ENXIO') return 'it is not a regular file'
  return code ?? message
}

function refused(place: string, why: string): UsageError {
  return new UsageError(`${place} can't be attached: ${why}.`)
}

/** The part as the server takes it. */
export function partOf(attachment: Attachment): object {
  const { size: _size, ...part } = { size: 0, ...attachment }
  return part
}

/** `[name, type, size]`, safe for the terminal. */
export function describeAttachment(attachment: Attachment): string {
  return formatFile(attachment)
}

/** A path as a person types or drops it: quoted, or with backslashes before spaces. */
export function unquoted(text: string): string {
  const [, quote, inside = ''] = /^(["'])(.*)\1$/s.exec(text) ?? []
  if (quote !== undefined) return inside
  return process.platform === 'win32' ? text : text.replace(/\\([^\n])/g, '$1')
}

const mention = /(?<![^\s([{])@(?:"([^"\n]+)"|'([^'\n]+)'|([^\s"'][^\s]*))/g

/** The files that a message names as `@path` or `@"a path"`. Any other word with an @ is only text. */
export async function mentionedFiles(message: string): Promise<string[]> {
  const found = new Set<string>()
  for (const [, double, single, bare = ''] of message.matchAll(mention)) {
    const quoted = double ?? single
    const names = quoted === undefined ? [bare, bare.replace(/[.,;:!?)\]}]+$/, '')] : [quoted]
    for (const name of names) {
      const path = name.startsWith('~/') ? join(homedir(), name.slice(2)) : name
      if (path === '' || !(await isFile(path))) continue
      found.add(name)
      break
    }
  }
  return [...found]
}

async function isFile(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile()
  } catch {
    return false
  }
}
