import type { FilePart } from '../core/message.ts'
import type { Quote } from './quote.ts'

/** The name of the offline model in recorded model calls. */
export const offlineModelName = 'offline'

export const noModelText =
  'No model is configured, so I can only quote from a knowledge base, and this agent has none. ' +
  "Set `model` in agent.config.ts, for all agents or for this one: model: 'ollama/qwen3:8b', or " +
  "model: { baseURL: 'http://127.0.0.1:11434/v1', model: 'qwen3:8b' }.\n"

/**
 * An introduction, then each passage with its place as `[1] path:line`, and which parts of the question found nothing.
 * Streamed by word.
 */
export async function* offlineAnswer(quotes: readonly Quote[], open: readonly string[] = []): AsyncGenerator<string> {
  if (quotes.length === 0) {
    yield* fragments(
      'No model is configured, so I answer by quoting the knowledge base, and nothing in it fits this question.\n',
    )
    return
  }
  yield* fragments('No model is configured, so I quote what the knowledge base says.\n')
  let number = 0
  for (const quote of quotes) {
    number++
    yield '\n'
    yield* fragments(quote.shown)
    yield `\n[${number}] ${placeOf(quote)}\n`
  }
  for (const question of open) yield* fragments(`\nNothing in the knowledge base fits this part: ${question}\n`)
}

function placeOf({ hit, line }: Quote): string {
  if (line !== undefined) return `${hit.source}:${line}`
  return hit.page === undefined ? hit.source : `${hit.source}, page ${hit.page}`
}

/** Says that the files of a message were not read. */
export function* unreadFiles(files: readonly FilePart[]): Generator<string> {
  if (files.length === 0) return
  const names = files.map(({ name, url, media_type: type }) => `${name ?? url ?? 'a file without a name'} (${type})`)
  yield* fragments(`\nWithout a model I can't read files, so I have not read ${names.join(', ')}.\n`)
}

/** Words with the white space after them; joined they are the text. */
function fragments(text: string): string[] {
  return text.match(/\s*\S+\s*/g) ?? []
}
