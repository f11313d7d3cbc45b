import type { EmittedEvent } from '../../core/event.ts'
import type { SearchHit } from '../../core/knowledge/knowledge.ts'
import type { RunContext, RunInput } from '../../core/runnable.ts'
import { noModelText, offlineAnswer, offlineModelName, unreadFiles } from '../../models/offline.ts'
import { questionParts } from '../../models/question-parts.ts'
import { findQuotes, mergeQuotes, type Quote } from '../../models/quote.ts'
import { ModelEvents } from '../model/events.ts'
import { around } from './around.ts'
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
    const asked = text.trim() === '' ? [] : questionParts(text)
    const answers = await Promise.all(asked.map((part) => answerOf(part)))
    const quotes = mergeQuotes(answers.map((answer) => answer.quotes))
    for (const { event, abstained } of answers) {
      const told = withTold(
        event,
        quotes.map(({ hit }) => hit),
      )
      yield abstained === undefined ? told : { ...told, abstained }
    }
    for (const [place, quote] of quotes.entries()) yield sourceEvent(quotedPart(quote), place + 1)
    yield events.startCall(offlineModelName, [{ role: 'user', content: text }])
    const open = asked.filter((_, place) => answers[place]?.quotes.length === 0)
    for await (const piece of offlineAnswer(quotes, open)) {
      context.signal.throwIfAborted()
      yield piece
    }
    yield* unreadFiles(files)
    yield* events.endCall(null, 'stop')

    async function answerOf(question: string) {
      const { hits, event } = await retrieve(knowledge as NonNullable<typeof knowledge>, question, context)
      const widen = context.knowledge && around(context.knowledge)
      return { event, ...(await findQuotes(question, hits as SearchHit[], { fit: event.fit, widen })) }
    }
  }
}

/** The source names the quoted lines, not the whole chunk. */
function quotedPart({ hit, text, line }: Quote): SearchHit {
  if (line === undefined) return hit
  return { ...hit, line_start: line, line_end: line + text.split('\n').length - 1 }
}
