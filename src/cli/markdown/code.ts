import { codeWords } from '../../core/text/code-words.ts'
import type { Paint } from '../terminal/paint.ts'

/** Code in the colours of its language, which is the first word of what follows the fence. */
export function highlight(code: string, info: string, paint: Paint): string {
  const words = paint.coloured ? codeWords(code, info) : undefined
  if (words === undefined) return code
  const styles = {
    comment: paint.dim,
    keyword: paint.magenta,
    string: paint.green,
    value: paint.cyan,
    name: paint.yellow,
    key: paint.cyan,
    added: paint.green,
    removed: paint.red,
  }
  return words.map(({ kind, text }) => (kind === undefined ? text : styles[kind](text))).join('')
}
