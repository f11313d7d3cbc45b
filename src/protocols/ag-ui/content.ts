import { type AppError, invalid } from '../../core/error.ts'
import { isWebAddress } from '../../core/file.ts'
import { partOfDataUrl } from '../data-url.ts'
import { type Fields, field, isFields, textField, wrong } from '../fields.ts'
import type { PostedPart } from '../kept-file.ts'

const media: Record<string, string> = {
  image: 'image/*',
  audio: 'audio/*',
  video: 'video/*',
  document: 'application/octet-stream',
}

/** The file of the thread that an address is; undefined for others. */
export type FileIdOf = (url: string) => string | undefined

/**
 * The content of a message: text, or a list of parts as 1.0 and earlier versions have them. Empty texts are left out, because
 * some models refuse them. `path`: for errors.
 */
export function readContent(content: unknown, path: string, fileIdOf: FileIdOf): PostedPart[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  if (!Array.isArray(content)) throw wrong(path, 'a string or a list of parts')
  return content.flatMap((part, place) => readPart(part, `${path}.${place}`, fileIdOf))
}

function readPart(part: unknown, path: string, fileIdOf: FileIdOf): PostedPart[] {
  if (!isFields(part) || typeof part.type !== 'string') throw wrong(path, 'a part with a type')
  if (part.type === 'text') {
    const text = textField(part, 'text', `${path}.text`)
    if (text === undefined) throw wrong(`${path}.text`, 'a string')
    return text === '' ? [] : [{ type: 'text', text }]
  }
  if (part.type === 'binary') return [readBinary(part, path, fileIdOf)]
  const otherwise = Object.hasOwn(media, part.type) ? media[part.type] : undefined
  if (otherwise === undefined) throw unsupported(part.type, path)
  const source = field(part, 'source')
  if (!isFields(source)) throw wrong(`${path}.source`, 'an object with type and value')
  const about = field(part, 'metadata')
  const name = isFields(about) ? (field(about, 'filename') ?? field(about, 'name')) : undefined
  const value = textField(source, 'value', `${path}.source.value`)
  if (value === undefined) throw wrong(`${path}.source.value`, 'a string')
  const mimeType = textField(source, 'mimeType', `${path}.source.mimeType`)
  const file = { value, path: `${path}.source.value`, mimeType, name, otherwise }
  switch (source.type) {
    case 'data':
      return [dataPart(file)]
    case 'url':
      return [urlPart(file, fileIdOf)]
    case 'file':
      throw invalid(
        `${path}.source names a file of a provider. Send the file itself, as data, or its http address.`,
        `${path}.source`,
      )
    default:
      throw wrong(`${path}.source.type`, "'data' or 'url'")
  }
}

interface PostedFile {
  value: string
  path: string
  mimeType: string | undefined
  name: unknown
  /** The media type of a file that does not say it. */
  otherwise: string
}

/** Before 1.0. */
function readBinary(part: Fields, path: string, fileIdOf: FileIdOf): PostedPart {
  const mimeType = textField(part, 'mimeType', `${path}.mimeType`)
  const data = textField(part, 'data', `${path}.data`)
  const url = textField(part, 'url', `${path}.url`)
  const about = { mimeType, name: field(part, 'filename'), otherwise: 'application/octet-stream' }
  if (data !== undefined && data !== '') return dataPart({ ...about, value: data, path: `${path}.data` })
  if (url !== undefined && url !== '') return urlPart({ ...about, value: url, path: `${path}.url` }, fileIdOf)
  throw invalid(`${path} has neither data nor url: a file of a provider can't be read here.`, path)
}

function dataPart({ value, mimeType, name, otherwise, path }: PostedFile): PostedPart {
  // Some send an address where the content belongs.
  const url = /^data:/i.test(value) ? value : `data:${mimeType ?? otherwise};base64,${value}`
  const part = partOfDataUrl(url, { mediaType: mimeType, ...named(name), broken: () => brokenData(path) })
  if (part === undefined) throw brokenData(path)
  return part
}

function urlPart({ value, mimeType, name, otherwise, path }: PostedFile, fileIdOf: FileIdOf): PostedPart {
  const inside = partOfDataUrl(value, { mediaType: mimeType, ...named(name), broken: () => brokenData(path) })
  if (inside !== undefined) return inside
  const about = { media_type: mimeType ?? otherwise, ...named(name) }
  const file_id = fileIdOf(value)
  if (file_id !== undefined) return { type: 'kept-file', ...about, file_id }
  if (!isWebAddress(value)) throw wrong(path, 'a data:, http or https address')
  return { type: 'file', ...about, url: value }
}

function named(name: unknown): { name?: string } {
  return typeof name === 'string' && name !== '' ? { name } : {}
}

function brokenData(path: string): AppError {
  return invalid(`${path} is a data: address with a broken percent-encoding.`, path)
}

function unsupported(type: string, path: string): AppError {
  const name = type.length > 40 ? `${type.slice(0, 40)}…` : type
  return invalid(`${path}: content of the type '${name}' is not supported. Send text, images and documents.`, path)
}
