import type { Json } from '../../core/json.ts'
import type { Part } from '../../core/message.ts'

/** A message's text and its data as formatted JSON, each in its own lines. Not yet safe for the terminal. */
export function saidIn(parts: readonly Part[]): string {
  return joined(parts, formatJson)
}

export function saidAsMarkdown(parts: readonly Part[]): string {
  return joined(parts, fencedJson)
}

export function formatJson(data: Json): string {
  return JSON.stringify(data, undefined, 2)
}

export function fencedJson(data: Json): string {
  return `\n\`\`\`json\n${formatJson(data)}\n\`\`\`\n`
}

function joined(parts: readonly Part[], format: (data: Json) => string): string {
  let said = ''
  for (const [place, part] of parts.entries()) {
    const isApart = said !== '' && (part.type !== 'text' || (parts[place - 1]?.type ?? 'text') !== 'text')
    if (isApart && !said.endsWith('\n')) said += '\n'
    said +=
      part.type === 'text' ? part.text : part.type === 'data' ? format(part.data) : `[${part.name ?? part.media_type}]`
  }
  return said.replace(/^\n+/, '')
}
