import { fileURLToPath } from 'node:url'
import { isOwnFile } from './own-files.ts'

export interface Place {
  /** Absolute. */
  file: string
  line: number
  column?: number | undefined
}

/** Where an error came from, or its cause: the first frame in a file that `isWanted`. Default: files of the user's own. */
export function placeInStack(error: unknown, isWanted: (file: string) => boolean = isUserFile): Place | undefined {
  if (!(error instanceof Error)) return undefined
  const frames = (error.stack ?? '').matchAll(/(?:\(|at )((?:file:\/\/)?\/[^\s)]+?):(\d+):(\d+)\)?$/gm)
  for (const [, url = '', line, column] of frames) {
    const file = toPath(url)
    if (isWanted(file)) return { file, line: Number(line), column: Number(column) }
  }
  return placeInStack(error.cause, isWanted)
}

/** A path from a path or URL of a module, without the mark of a reload. */
export function toPath(urlOrPath: string): string {
  const plain = urlOrPath.replace(/[?&]asv=\d+/, '')
  return plain.startsWith('file:') ? fileURLToPath(plain) : plain
}

function isUserFile(file: string): boolean {
  return !/[\\/]node_modules[\\/]/.test(file) && !isOwnFile(file)
}
