import { AppError } from '../../core/error.ts'
import { classify } from '../sqlite/failure.ts'

const damaged = new Set(['SQLITE_CORRUPT', 'SQLITE_NOTADB'])

/** If the file is the problem, names it and what to do; returns any other error unchanged. */
export function toKnowledgeError(error: unknown, path: string): unknown {
  const failure = classify(error)
  if (failure === 'full')
    return new AppError('storage_full', `The disk is full: nothing was stored in ${path}.`, { cause: error })
  if (failure !== 'fatal') return error
  const { code = '' } = error as NodeJS.ErrnoException
  const message = damaged.has(code)
    ? `The knowledge base ${path} is damaged (${code}). Stop agentserve, move that file and those named ${path}-wal and ` +
      `${path}-shm away or restore them from a backup, and start again; then ingest the documents again.`
    : `The knowledge base ${path} can't be read or written (${code}). Check the disk and the permissions of the file.`
  return new AppError('unavailable', message, { cause: error })
}
