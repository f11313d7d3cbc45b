import { AppError, isAppError } from '../../core/error.ts'

/** What is wrong with a file that was to be read, and what to do; errors that are not about it come back as they are. */
export function toReadError(error: unknown, file: string, writer = 'agentserve sessions export'): unknown {
  const code = codeOf(error)
  if (code === 'ENOENT' || code === 'ENOTDIR')
    return refuse(`There is no file '${file}': name one that \`${writer}\` wrote.`, error)
  if (code === 'EISDIR') return refuse(`'${file}' is a folder: name a file in it.`, error)
  if (code === 'EACCES' || code === 'EPERM')
    return refuse(`You may not read '${file}': change its permissions, or name another file.`, error)
  return code === undefined ? error : refuse(`'${file}' can't be read: ${code}.`, error)
}

/** The same of a file that was to be made. */
export function toWriteError(error: unknown, file: string): unknown {
  const code = codeOf(error)
  if (code === 'EEXIST') return new AppError('conflict', `${file} is there already: name another file, or delete it.`)
  if (code === 'ENOENT' || code === 'ENOTDIR')
    return refuse(`There is no folder for '${file}': make it, or name another file.`, error)
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS')
    return refuse(`You may not write '${file}': change its folder's permissions, or name another file.`, error)
  return code === undefined ? error : refuse(`'${file}' can't be written: ${code}.`, error)
}

/** Of an error of the file system. */
function codeOf(error: unknown): string | undefined {
  const { code } = error as NodeJS.ErrnoException
  return !isAppError(error) && typeof code === 'string' && /^E[A-Z]+$/.test(code) ? code : undefined
}

function refuse(message: string, cause: unknown): AppError {
  return new AppError('invalid_request', message, { cause })
}
