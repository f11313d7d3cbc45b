import type { ModelMessage } from 'ai'
import type { EmittedEvent } from '../../core/event.ts'
import type { RunContext, RunInput } from '../../core/runnable.ts'
import { type ContinueOptions, continueFrom } from '../again/messages.ts'
import { hashesOfOpen } from './checkpoint.ts'
import { paused } from './run.ts'

/**
 * Takes up a repeated run where its record ends, and gives the messages of the next call. Undefined when the agent makes its
 * first messages itself; `paused` when calls of tools wait for an approval.
 */
export async function* takeUp(
  options: ContinueOptions,
  input: RunInput,
  context: RunContext,
): AsyncGenerator<EmittedEvent, ModelMessage[] | 'paused' | undefined> {
  const continued = await continueFrom(options, input, context)
  if (continued === undefined) return undefined
  yield* continued.events
  if (continued.asks.length === 0) return continued.messages
  const messages = await options.files.toReferences(continued.messages)
  yield* paused(continued.asks, messages, new Map(), hashesOfOpen(messages, options.opened))
  return 'paused'
}
