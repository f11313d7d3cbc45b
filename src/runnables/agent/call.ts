import type { Emission, RunContext, RunInput } from '../../core/runnable.ts'
import { deriveContext } from '../base/derived-context.ts'
import type { AgentRunContext } from './settings.ts'

/** An agent's way of answering. */
export type Answering = (input: RunInput, context: RunContext) => AsyncIterable<Emission>

/** What an agent's own code is given of its run. */
export function callOf({ text, parts }: RunInput, context: RunContext): AgentRunContext {
  return deriveContext(context, { text, parts })
}
