import { AppError } from '../../core/error.ts'
import { nearest } from '../../core/text/nearest.ts'

const maxShown = 20

/** The end of an error about an unknown name: a similar name, or the known ones. */
export function hintAt(name: string, known: readonly string[]): string {
  const meant = nearest(name, known)
  if (meant !== undefined) return `; did you mean '${meant}'?`
  if (known.length === 0) return '; there are none.'
  const more = known.length > maxShown ? ` and ${known.length - maxShown} more` : ''
  return `. There are ${known.slice(0, maxShown).join(', ')}${more}.`
}

/** What is wrong with a setting that names a missing tool. */
export function namesUnknown(setting: string, name: string, known: readonly string[]): string {
  return `${setting} names '${name}', which is none of its tools${hintAt(name, known)}`
}

/** The error for a setting of an entry that names a missing tool. */
export function unknownTool(entry: string, setting: string, name: string, known: readonly string[]): AppError {
  return new AppError(
    'run_failed',
    `The entry '${entry}' of \`tools\` brings no tools: ${namesUnknown(setting, name, known)}`,
  )
}
