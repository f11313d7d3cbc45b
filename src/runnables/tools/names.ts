import { AppError } from '../../core/error.ts'
import { nearest } from '../../core/text/nearest.ts'

const maxShown = 20

/** What follows "… names 'x', …" in a message: the name that was meant, or those that there are. */
export function hintAt(name: string, known: readonly string[]): string {
  const meant = nearest(name, known)
  if (meant !== undefined) return `; did you mean '${meant}'?`
  if (known.length === 0) return '; there are none.'
  const more = known.length > maxShown ? ` and ${known.length - maxShown} more` : ''
  return `. There are ${known.slice(0, maxShown).join(', ')}${more}.`
}

/** Why an entry of `tools` brings no tools: a setting names one that is not there. */
export function unknownTool(entry: string, setting: string, name: string, known: readonly string[]): AppError {
  return new AppError(
    'run_failed',
    `The entry '${entry}' of \`tools\` brings no tools: ${setting} names '${name}', which is none of its tools${hintAt(name, known)}`,
  )
}
