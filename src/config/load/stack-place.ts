import { fileURLToPath } from 'node:url'
import { isOwnFile } from './own-files.ts'

export interface CodePosition {
  /** Absolute. */
  file: string
  line: number
  column?: number | undefined
}

/** The first frame of an error, or of its cause, in a file that `isWanted`. Default: the user's own files. */
export function positionInStack(
  error: unknown,
  isWanted: (file: string) => boolean = isUserFile,
): CodePosition | undefined {
  if (!(error instanceof Error)) return undefined
  const frames = (error.stack ?? '').matchAll(/(?:\(|at )((?:file:\/\/)?\/[^\s)]+?):(\d+):(\d+)\)?$/gm)
  for (const [, url = '', line, column] of frames) {
    const file = toPath(url)
    if (isWanted(file)) return { file, line: Number(line), column: Number(column) }
  }
  return positionInStack(error.cause, isWanted)
}

/** The path of a module's path or URL, without the query of a reload. */
export function toPath(urlOrPath: string): string {
  const plain = urlOrPath.replace(/[?&]asv=\d+/, '')
  return plain.startsWith('file:') ? fileURLToPath(plain) : plain
}

function isUserFile(file: string): boolean {
  return !/[\\/]node_modules[\\/]/.test(file) && !isOwnFile(file)
}
