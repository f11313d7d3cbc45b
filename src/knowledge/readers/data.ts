import { afterMember } from './part-ends.ts'
import type { TextReader } from './reader.ts'

const longLine = 5_000

/** Data is kept as written. JSON on one line gets lines: otherwise it could only be cut anywhere. */
export const dataReader: TextReader = {
  name: 'data',
  mediaTypes: [
    'application/json',
    'application/x-ndjson',
    'application/jsonl',
    'application/yaml',
    'text/yaml',
    'application/toml',
    'application/xml',
    'text/xml',
  ],
  extensions: ['.json', '.jsonl', '.ndjson', '.json5', '.yaml', '.yml', '.toml', '.xml', '.ini', '.properties'],
  partEnd: afterMember,
  read(text, name, before) {
    const lines = /\.(jsonl|ndjson)$/i.test(name ?? '')
    const dense = before ? before.dense === true : !lines && /^\s*[[{]/.test(text) && hasLongLine(text)
    const state: JsonState = { depth: Number(before?.depth ?? 0), inString: before?.inString === true }
    const found = dense ? withLines(text, state) : text
    return { text: found, start: 0, metadata: {}, chunker: 'code', reading: { dense, ...state } }
  },
}

function hasLongLine(text: string): boolean {
  for (let start = 0; start < text.length; ) {
    const newline = text.indexOf('\n', start)
    const end = newline === -1 ? text.length : newline
    if (end - start > longLine) return true
    start = end + 1
  }
  return false
}

const maxIndent = 20

/** Where a part of a JSON text ends. */
interface JsonState {
  depth: number
  inString: boolean
}

/** JSON with a line for each member; strings and numbers stay exact, which parsing would not guarantee. */
function withLines(json: string, state: JsonState): string {
  const parts: string[] = []
  let { depth } = state
  let from = 0
  const lineBreak = () => `\n${'  '.repeat(Math.min(depth, maxIndent))}`
  const cut = (to: number, insert: string) => {
    parts.push(json.slice(from, to), insert)
    from = to
  }
  let index = state.inString ? endOfString(json, -1) + 1 : 0
  for (; index < json.length; index++) {
    const character = json[index]
    if (character === '"') index = endOfString(json, index)
    else if (character === '{' || character === '[') {
      depth++
      if (json[index + 1] !== '}' && json[index + 1] !== ']') cut(index + 1, lineBreak())
    } else if (character === '}' || character === ']') {
      depth = Math.max(0, depth - 1)
      if (json[index - 1] !== '{' && json[index - 1] !== '[') cut(index, lineBreak())
    } else if (character === ',') cut(index + 1, lineBreak())
  }
  state.depth = depth
  state.inString = index > json.length
  return parts.join('') + json.slice(from)
}

function endOfString(json: string, start: number): number {
  let at = start + 1
  while (at < json.length && json[at] !== '"') at += json[at] === '\\' ? 2 : 1
  return at
}
