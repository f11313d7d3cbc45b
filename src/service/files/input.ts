import type { NewFile } from '../../core/file.ts'
import type { GivenPart, Part } from '../../core/message.ts'
import type { SessionStore } from '../../core/store.ts'
import { contentOfUpload, type FileBounds, isUpload, problemOfFile, toInputError, tooManyFiles } from './check.ts'

/** The run that is about to start. */
type ComingRun = Pick<NewFile, 'session_id' | 'run_id'>

/**
 * Checks the files of a request and stores their content; returns the parts as they are recorded. Throws `invalid_request` and
 * `payload_too_large` before anything is stored.
 */
export async function saveInput(
  store: Pick<SessionStore, 'saveFile'>,
  bounds: FileBounds,
  given: readonly GivenPart[],
  run: ComingRun,
): Promise<Part[]> {
  const count = given.filter(({ type }) => type === 'file').length
  if (count > bounds.run.files) throw tooManyFiles(count, bounds, 'input.parts')
  const checked = given.map((part, place) => checkPart(part, place, bounds))
  const parts: Part[] = []
  for (const one of checked) parts.push('bytes' in one ? await saveUpload(store, one, run) : one)
  return parts
}

interface Upload {
  media_type: string
  name: string | undefined
  bytes: Uint8Array
}

function checkPart(part: GivenPart, place: number, bounds: FileBounds): Part | Upload {
  if (part.type !== 'file') return part
  const at = `input.parts.${place}`
  const refuse = (field: 'data' | 'file_id', message: string) =>
    toInputError({ code: 'invalid_request', field, message }, at)
  const problem = problemOfFile(part)
  if (problem !== undefined) throw toInputError(problem, at)
  if ('file_id' in part && part.file_id !== undefined)
    throw refuse('file_id', "can't be sent: a file is sent with its `data` or its `url`")
  const { media_type, name } = part
  if (!isUpload(part)) {
    if (part.url === undefined) throw refuse('data', 'or `url` is required')
    return { type: 'file', media_type, ...(name !== undefined && { name }), url: part.url }
  }
  if ('url' in part && part.url !== undefined) throw refuse('data', "can't be combined with `url`")
  const bytes = contentOfUpload(part.data, bounds)
  if ('field' in bytes) throw toInputError(bytes, at)
  return { media_type, name, bytes }
}

async function saveUpload(
  store: Pick<SessionStore, 'saveFile'>,
  { media_type, name, bytes }: Upload,
  run: ComingRun,
): Promise<Part> {
  const saved = await store.saveFile({ ...run, media_type, name: name ?? null, url: null, bytes })
  return { type: 'file', media_type, ...(name !== undefined && { name }), ...saved }
}
