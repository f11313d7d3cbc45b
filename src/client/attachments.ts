import { AppError } from '../core/error.ts'
import type { FilePart, Part } from '../core/message.ts'
import type { RunRequest } from '../wire/run.ts'
import type { Call } from './transport/connection.ts'
import { toMultipart } from './transport/multipart.ts'

/** A file, its bytes, or the http(s) address from which the server or the model's provider reads it. */
export type Attachment = Blob | AttachedBytes | AttachedUrl

export interface AttachedBytes {
  bytes: Uint8Array | Blob
  /** Default: the name of the `File`. */
  name?: string | undefined
  /** Default: the type of the `Blob`, or application/octet-stream. */
  media_type?: string | undefined
}

export interface AttachedUrl {
  /** http or https. */
  url: string
  media_type: string
  name?: string | undefined
}

const unknownType = 'application/octet-stream'

/** The body of a run: JSON, or a form when files have bytes. Files follow the parts of `input`, first those with a `url`. */
export async function toBody<REQUEST extends RunRequest>(
  request: REQUEST & { files?: readonly Attachment[] | undefined },
): Promise<Pick<Call, 'body' | 'raw'>> {
  const { files = [], ...body } = request
  if (files.length === 0) return { body }
  const linked: FilePart[] = []
  const sent: AttachedBytes[] = []
  for (const [place, file] of files.entries()) {
    if (typeof file !== 'object' || file === null) throw wrongFile(place)
    if (file instanceof Blob) sent.push({ bytes: file })
    else if ('url' in file) linked.push(toPart(file))
    else if (file.bytes instanceof Blob || file.bytes instanceof Uint8Array) sent.push(file)
    else throw wrongFile(place)
  }
  const whole = linked.length === 0 ? body : { ...body, input: { parts: [...partsOf(body.input), ...linked] } }
  if (sent.length === 0) return { body: whole }
  const form = new FormData()
  form.set('request', JSON.stringify(whole))
  for (const file of sent) addFile(form, file)
  return { raw: await toMultipart(form) }
}

function partsOf(input: RunRequest['input']): readonly Part[] {
  return typeof input === 'string' ? [{ type: 'text', text: input }] : (input.parts as Part[])
}

function toPart({ url, media_type, name }: AttachedUrl): FilePart {
  return { type: 'file', media_type, ...(name !== undefined && { name }), url }
}

function addFile(form: FormData, { bytes, name, media_type }: AttachedBytes): void {
  const own = bytes instanceof Blob ? { name: nameOf(bytes), type: bytes.type } : { name: undefined, type: '' }
  const content = bytes instanceof Blob ? bytes : new Uint8Array(bytes)
  const type = media_type ?? (own.type === '' ? unknownType : own.type)
  form.append('file', new Blob([content], { type }), name ?? own.name ?? 'file')
}

function nameOf(blob: Blob): string | undefined {
  return 'name' in blob && typeof blob.name === 'string' && blob.name !== '' ? blob.name : undefined
}

function wrongFile(place: number): AppError {
  const path = `files.${place}`
  const message = `${path} must be a Blob or File, { bytes, name, media_type } or { url, media_type }.`
  return new AppError('invalid_request', message, { details: [{ path, message }] })
}
