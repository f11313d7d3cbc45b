import type { ToolSet } from 'ai'
import type { FilePart } from '../../core/message.ts'
import { bytesOf, decodeBase64, mediaTypeOf } from './inline.ts'
import { type ModelFiles, referenceTo } from './model-files.ts'

/*
 * Files in the results of tools. A result is a file, or has files in a list: the result itself, its `content` (as MCP has it)
 * or its `value` (as the AI SDK has it). Bytes elsewhere in a result are not files.
 */

type ModelOutput = Awaited<ReturnType<NonNullable<ToolSet[string]['toModelOutput']>>>
type Content = Extract<ModelOutput, { type: 'content' }>['value']

interface FoundFile {
  bytes: Uint8Array
  mediaType?: string
  name?: string
}

/** The result with stored files in place of their bytes; the same value for a result without any. */
export function storeResult(output: unknown, files: ModelFiles): unknown {
  if (typeof output !== 'object' || output === null) return output
  return files.once(output, () => storeFiles(output, files))
}

async function storeFiles(output: object, files: ModelFiles): Promise<unknown> {
  const file = fileIn(output)
  if (file !== undefined) return store(file, files)
  if (Array.isArray(output)) return storeList(output, files)
  for (const field of ['content', 'value'] as const) {
    const list: unknown = (output as Record<string, unknown>)[field]
    if (!Array.isArray(list)) continue
    const stored = await storeList(list, files)
    return stored === list ? output : { ...output, [field]: stored }
  }
  return output
}

/** What the model is told of a stored result: its texts, its files, and everything else as JSON; undefined without files. */
export function tellFiles(output: unknown): ModelOutput | undefined {
  const items = itemsOf(output)
  if (items === undefined || !items.some(isStored)) return undefined
  return { type: 'content', value: items.map(toContent) }
}

/** One part of a result's list, for the model: a file that is stored or not, text, or anything else as JSON. */
export function toContent(item: unknown): Content[number] {
  const file = fileIn(item)
  if (file !== undefined) {
    const { bytes: data, mediaType = mediaTypeOf(data) ?? 'application/octet-stream', name: filename } = file
    return { type: 'file', mediaType, ...(filename === undefined ? {} : { filename }), data: { type: 'data', data } }
  }
  if (isStored(item)) {
    const { media_type: mediaType, name: filename } = item
    return { type: 'file', mediaType, ...(filename === undefined ? {} : { filename }), data: referenceTo(item) }
  }
  if (typeof item === 'string') return { type: 'text', text: item }
  const { type, text } = (item ?? {}) as { type?: unknown; text?: unknown }
  return { type: 'text', text: type === 'text' && typeof text === 'string' ? text : (JSON.stringify(item) ?? 'null') }
}

async function storeList(list: readonly unknown[], files: ModelFiles): Promise<readonly unknown[]> {
  const found = list.map(fileIn)
  if (found.every((file) => file === undefined)) return list
  const stored: unknown[] = []
  for (const [place, file] of found.entries()) stored.push(file === undefined ? list[place] : await store(file, files))
  return stored
}

function store({ bytes, ...about }: FoundFile, files: ModelFiles): Promise<FilePart> {
  return files.keep(bytes, about)
}

function itemsOf(output: unknown): readonly unknown[] | undefined {
  if (isStored(output)) return [output]
  if (Array.isArray(output)) return output
  const { content, value } = (output ?? {}) as { content?: unknown; value?: unknown }
  const list = Array.isArray(content) ? content : value
  return Array.isArray(list) ? list : undefined
}

function isStored(item: unknown): item is FilePart {
  const { type, file_id } = (item ?? {}) as Partial<FilePart>
  return type === 'file' && typeof file_id === 'string'
}

/** Bytes, a file part of ours, of the AI SDK or of MCP. */
function fileIn(item: unknown): FoundFile | undefined {
  if (typeof item !== 'object' || item === null) return undefined
  const whole = bytesOf(item)
  if (whole !== undefined) return { bytes: whole }
  const part = item as Record<string, unknown>
  if (part.type === 'resource') return resourceIn(part.resource)
  if (typeof part.type !== 'string' || !fileTypes.has(part.type)) return undefined
  const bytes = contentIn(part.data)
  const mediaType = textIn(part.media_type ?? part.mediaType ?? part.mimeType)
  if (bytes === undefined || mediaType === undefined) return undefined
  return { bytes, mediaType, ...named(textIn(part.name ?? part.filename)) }
}

const fileTypes: ReadonlySet<string> = new Set(['file', 'image', 'audio', 'file-data', 'image-data'])

/** A resource that is embedded in a result of MCP. */
function resourceIn(resource: unknown): FoundFile | undefined {
  const { uri, mimeType, blob } = (resource ?? {}) as Record<string, unknown>
  const bytes = typeof blob === 'string' ? decodeBase64(blob) : undefined
  if (bytes === undefined) return undefined
  const mediaType = textIn(mimeType)
  return {
    bytes,
    ...(mediaType === undefined ? {} : { mediaType }),
    ...named(
      textIn(uri)
        ?.replace(/[?#].*$/s, '')
        .split('/')
        .at(-1),
    ),
  }
}

function contentIn(data: unknown): Uint8Array | undefined {
  const bytes = bytesOf(data)
  if (bytes !== undefined) return bytes
  if (typeof data === 'string') return decodeBase64(data)
  const tagged = (data ?? {}) as { type?: unknown; data?: unknown }
  return tagged.type === 'data' ? contentIn(tagged.data) : undefined
}

function textIn(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

function named(name: string | undefined): { name?: string } {
  return name === undefined || name === '' ? {} : { name }
}
