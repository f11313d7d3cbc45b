import type { Json } from '../../../core/json.ts'
import { withoutBase64 } from '../../../core/text/base64.ts'
import { formatBytes } from '../../../core/text/format.ts'

/** Of one text: a model reads no more of it with profit. */
const longest = 20_000

/** On one line, and no markup. */
export function inline(text: string): string {
  const line = withoutBase64(text).replaceAll(/\s+/g, ' ').trim()
  return line.replaceAll(/[\\`*_[\]<>#]/g, String.raw`\$&`).slice(0, 500)
}

/** An id or a code: as it is, unless it was made up elsewhere and could be markup. */
export function named(id: string): string {
  return /^[\w.:-]+$/.test(id) ? id : inline(id)
}

/** A code block that nothing in the text ends. */
export function fenced(value: Json, language = ''): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value, (_key, item) => cut(item), 2)
  const shown = typeof value === 'string' ? (cut(text) as string) : shorten(text)
  const runs = shown.match(/`+/g) ?? []
  const fence = '`'.repeat(Math.max(3, ...runs.map(({ length }) => length + 1)))
  return `${fence}${typeof value === 'string' && language === 'json' ? '' : language}\n${shown}\n${fence}`
}

function cut(item: unknown): unknown {
  return typeof item === 'string' ? shorten(withoutBase64(item)) : item
}

function shorten(text: string): string {
  if (text.length <= longest) return text
  return `${text.slice(0, longest)}\n… (${formatBytes(text.length - longest)} left out)`
}
