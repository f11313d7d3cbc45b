import { common, createEmphasize } from 'emphasize'
import type { Paint } from '../terminal/paint.ts'

const emphasize = createEmphasize(common)

export function highlight(code: string, language: string, paint: Paint): string {
  const name = /^[\w+#.-]+/.exec(language)?.[0]?.toLowerCase()
  if (!paint.coloured || name === undefined || !emphasize.registered(name)) return code
  return emphasize.highlight(name, code, {
    comment: paint.dim,
    quote: paint.dim,
    keyword: paint.magenta,
    'selector-tag': paint.magenta,
    literal: paint.cyan,
    number: paint.cyan,
    string: paint.green,
    regexp: paint.green,
    title: paint.yellow,
    attr: paint.cyan,
    attribute: paint.cyan,
    addition: paint.green,
    deletion: paint.red,
  }).value
}
