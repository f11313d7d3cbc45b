import type { Json } from '../../core/json.ts'
import { shownBytes } from '../../core/limits.ts'
import type { FilePart, Part } from '../../core/message.ts'
import { terminalLine } from './text.ts'

/** A message's text and its data as formatted JSON, each in its own lines. Not yet safe for the terminal. */
export function saidIn(parts: readonly Part[]): string {
  return joined(parts, formatJson, formatFile)
}

export function saidAsMarkdown(parts: readonly Part[]): string {
  return joined(parts, fencedJson, fileAsMarkdown)
}

export function formatJson(data: Json): string {
  return JSON.stringify(data, undefined, 2)
}

export function fencedJson(data: Json): string {
  return `\n\`\`\`json\n${formatJson(data)}\n\`\`\`\n`
}

const shownNameChars = 120

/** `[name, type, size]` in one line. The name is a stranger's text. */
export function formatFile({ name, media_type, size, url }: ShownFile): string {
  const named = name ?? url
  const facts = [
    ...(named === undefined ? [] : [shorten(terminalLine(named))]),
    shorten(terminalLine(media_type)),
    ...(size === undefined ? [] : [shownBytes(size)]),
  ]
  return `[${facts.filter((fact) => fact !== '').join(', ')}]`
}

export type ShownFile = Pick<FilePart, 'name' | 'media_type' | 'size' | 'url'>

export function fileAsMarkdown(file: ShownFile): string {
  return formatFile(file).replace(/[\\`*_<>()[\]!#|~&]/g, '\\$&')
}

function shorten(text: string): string {
  const characters = [...text]
  return characters.length <= shownNameChars ? text : `${characters.slice(0, shownNameChars - 1).join('')}…`
}

function joined(parts: readonly Part[], format: (data: Json) => string, toText: (file: FilePart) => string): string {
  let said = ''
  for (const [place, part] of parts.entries()) {
    const isApart = said !== '' && (part.type !== 'text' || (parts[place - 1]?.type ?? 'text') !== 'text')
    if (isApart && !said.endsWith('\n')) said += '\n'
    said += part.type === 'text' ? part.text : part.type === 'data' ? format(part.data) : toText(part)
  }
  return said.replace(/^\n+/, '')
}
