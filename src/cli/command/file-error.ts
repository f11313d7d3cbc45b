import { AppError, isAppError } from '../../core/error.ts'
import { isDiskFull } from '../../runtime/whole-file.ts'

/** Explains why a file could not be read. Other errors are returned unchanged. */
export function toReadError(error: unknown, file: string, writer = 'agentserve sessions export'): unknown {
  const code = codeOf(error)
  if (code === 'ENOENT' || code === 'ENOTDIR')
    return refuse(`There is no file '${file}'. Name a file that \`${writer}\` wrote.`, error)
  if (code === 'EISDIR') return refuse(`'${file}' is a folder. Name a file.`, error)
  if (code === 'EACCES' || code === 'EPERM')
    return refuse(`No permission to read '${file}'. Change its permissions, or name another file.`, error)
  return code === undefined ? error : failed(`'${file}' can't be read: ${code}.`, error)
}

/** Explains why a file could not be written. Other errors are returned unchanged. `otherwise`: what else a user may do about a file that exists. */
export function toWriteError(error: unknown, file: string, otherwise = 'delete this one'): unknown {
  const code = codeOf(error)
  if (code === 'EEXIST') return new AppError('conflict', `${file} already exists. Name another file, or ${otherwise}.`)
  if (code === 'EISDIR') return refuse(`'${file}' is a folder. Name a file.`, error)
  if (code === 'ENOENT' || code === 'ENOTDIR')
    return refuse(`The folder of '${file}' does not exist. Create it, or name another file.`, error)
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS')
    return refuse(
      `No permission to write '${file}'. Change the permissions of its folder, or name another file.`,
      error,
    )
  return code === undefined ? error : notWritten(file, code, error)
}

/** Explains why files could not be written into a folder. Other errors are returned unchanged. */
export function toFolderError(error: unknown, folder: string): unknown {
  const code = codeOf(error)
  if (code === 'EEXIST' || code === 'ENOTDIR')
    return refuse(`'${folder}' is no folder: a file has its name, or that of a folder above it. Name another.`, error)
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS')
    return refuse(`No permission to write to '${folder}'. Change its permissions, or name another folder.`, error)
  return code === undefined ? error : notWritten(folder, code, error)
}

function notWritten(path: string, code: string, error: unknown): AppError {
  if (isDiskFull(error))
    return new AppError('storage_full', `The disk of '${path}' is full. Free some space, or name another place.`, {
      cause: error,
    })
  return failed(`'${path}' can't be written: ${code}.`, error)
}

function codeOf(error: unknown): string | undefined {
  const { code } = error as NodeJS.ErrnoException
  return !isAppError(error) && typeof code === 'string' && /^E[A-Z]+$/.test(code) ? code : undefined
}

/** Not the caller's mistake. */
function failed(message: string, cause: unknown): AppError {
  return new AppError('unavailable', message, { cause })
}

function refuse(message: string, cause: unknown): AppError {
  return new AppError('invalid_request', message, { cause })
}
