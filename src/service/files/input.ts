import type { NewFile } from '../../core/file.ts'
import type { GivenPart, Part } from '../../core/message.ts'
import type { RunGiven } from '../../core/run.ts'
import type { SessionStore } from '../../core/store.ts'
import type { StartRun } from '../services.ts'
import {
  contentOfUpload,
  type FileBounds,
  hasFiles,
  isUpload,
  problemOfFile,
  toInputError,
  tooManyFiles,
} from './check.ts'

/** The run that is about to start. */
type ComingRun = Pick<NewFile, 'session_id' | 'run_id'>

type Brought = Pick<StartRun, 'parts' | 'given'>

export function bringsFiles({ parts, given }: Brought): boolean {
  return hasFiles(parts) || given?.history?.some((message) => hasFiles(message.parts)) === true
}

/**
 * Checks the files of a request, those of its history too, and stores their content; returns the parts as they are recorded.
 * Throws `invalid_request` and `payload_too_large` before anything is stored.
 */
export async function saveFiles(
  store: Pick<SessionStore, 'saveFile'>,
  bounds: FileBounds,
  { parts, given }: Brought,
  run: ComingRun,
): Promise<{ parts: Part[]; given: RunGiven | undefined }> {
  const { history, ...rest } = given ?? {}
  const all = [parts, ...(history ?? []).map((message) => message.parts)].flat()
  const count = all.filter(({ type }) => type === 'file').length
  if (count > bounds.run.files) throw tooManyFiles(count, bounds, hasFiles(parts) ? 'input.parts' : 'history')
  const checked = parts.map((part, place) => checkPart(part, `input.parts.${place}`, bounds))
  const checkedHistory = history?.map((message, at) => ({
    role: message.role,
    parts: message.parts.map((part, place) => checkPart(part, `history.${at}.parts.${place}`, bounds)),
  }))
  const saveAll = async (list: readonly (Part | Upload)[]) => {
    const saved: Part[] = []
    for (const one of list) saved.push('bytes' in one ? await saveUpload(store, one, run) : one)
    return saved
  }
  const saved: { parts: Part[]; given: RunGiven | undefined } = { parts: await saveAll(checked), given: given && rest }
  if (checkedHistory === undefined) return saved
  const told: NonNullable<RunGiven['history']> = []
  for (const message of checkedHistory) told.push({ role: message.role, parts: await saveAll(message.parts) })
  return { ...saved, given: { ...rest, history: told } }
}

interface Upload {
  media_type: string
  name: string | undefined
  bytes: Uint8Array
}

function checkPart(part: GivenPart, at: string, bounds: FileBounds): Part | Upload {
  if (part.type !== 'file') return part
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
