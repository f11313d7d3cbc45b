import { contentWords } from './sentence.ts'

const asking = 'how|what|where|when|which|who|whom|whose|why'
const helping = 'can|could|do|does|did|is|are|may|must|should|will|would'
const between = new RegExp(
  String.raw`\?+\s+(?=\S)|[,;]?\s+(?:and|or|also)(?:\s+also)?\s+(?=(?:${asking})\s)|[,;]\s+(?:and\s+|or\s+)?(?=(?:${asking}|${helping})\s)`,
  'giu',
)
const maxParts = 2

/** The questions that a text asks, two at most. A part without words of its own is about what the other one says. */
export function questionParts(text: string): string[] {
  const parts = text
    .trim()
    .split(between)
    .filter((part) => contentWords(part).length > 0)
  const asks = new RegExp(String.raw`^(?:and\s+|or\s+)?(?:${asking}|${helping})\s`, 'iu')
  if (parts.length < 2 || parts.length > maxParts || !parts.every((part) => asks.test(part))) return [text]
  return parts.map((part, at) => {
    if (contentWords(part).length > 1) return part
    const [other = ''] = parts.filter((_, place) => place !== at)
    return `${part.replace(/\?+$/, '')} (${contentWords(other).join(' ')})`
  })
}
