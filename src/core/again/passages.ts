import type { SourceEvent } from '../event.ts'
import type { Json } from '../json.ts'

/** A passage as the model was given it. */
export interface RecordedPassage extends Omit<SourceEvent, 'type' | 'index'> {
  content: string
}

/** The passages that a retrieval's sources name, with their texts from what the model was told. */
export function toHits(sources: readonly SourceEvent[], told: Json): RecordedPassage[] {
  const texts = textsIn(told)
  return sources.flatMap(({ type: _type, index, ...source }) => {
    const content = texts.get(index)
    return content === undefined ? [] : [{ ...source, content }]
  })
}

const passage = /<passage number="(\d+)"[^\n]*>\n([\s\S]*?)\n<\/passage>/g

/** By number; of a prompt, the last message that has passages. */
function textsIn(told: Json): Map<number, string> {
  const messages = Array.isArray(told) ? told.toReversed() : [told]
  for (const message of messages) {
    const texts = new Map<number, string>()
    for (const text of stringsIn(message)) {
      for (const [, number, content = ''] of text.matchAll(passage)) texts.set(Number(number), content)
    }
    if (texts.size > 0) return texts
  }
  return new Map()
}

function stringsIn(value: Json): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(stringsIn)
}
