import type { EmittedEvent } from '../../core/event.ts'
import type { SearchHit } from '../../core/knowledge/knowledge.ts'
import type { RunContext, RunInput } from '../../core/runnable.ts'
import { noModelText, offlineAnswer, offlineModelName, unreadFiles } from '../../models/offline.ts'
import { findQuotes, type Quote } from '../../models/quote.ts'
import { ModelEvents } from '../model/events.ts'
import { retrieve, sourceEvent, withTold } from './passages.ts'
import type { CheckedAgent } from './schema.ts'

/** Answers without a model: quotes from the knowledge base, or says how to set up a model. */
export function offlineAnswering({ knowledge }: Pick<CheckedAgent, 'knowledge'>) {
  return async function* run({ text, parts }: RunInput, context: RunContext): AsyncGenerator<string | EmittedEvent> {
    const events = new ModelEvents()
    const files = parts.filter((part) => part.type === 'file')
    if (knowledge === undefined) {
      yield events.startCall(offlineModelName, [{ role: 'user', content: text }])
      yield noModelText
      yield* unreadFiles(files)
      yield* events.endCall(null, 'stop')
      return
    }
    const retrieved = text.trim() === '' ? undefined : await retrieve(knowledge, text, context)
    const { quotes, abstained } = findQuotes(text, (retrieved?.hits ?? []) as SearchHit[])
    if (retrieved !== undefined) {
      const told = withTold(
        retrieved.event,
        quotes.map(({ hit }) => hit),
      )
      yield abstained === undefined ? told : { ...told, abstained }
    }
    for (const [place, quote] of quotes.entries()) yield sourceEvent(quotedPart(quote), place + 1)
    yield events.startCall(offlineModelName, [{ role: 'user', content: text }])
    for await (const piece of offlineAnswer(quotes)) {
      context.signal.throwIfAborted()
      yield piece
    }
    yield* unreadFiles(files)
    yield* events.endCall(null, 'stop')
  }
}

/** The source names the quoted lines, not the whole chunk. */
function quotedPart({ hit, text, line }: Quote): SearchHit {
  if (line === undefined) return hit
  return { ...hit, line_start: line, line_end: line + text.split('\n').length - 1 }
}
