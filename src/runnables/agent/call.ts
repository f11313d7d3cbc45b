import type { Emission, RunContext, RunInput } from '../../core/runnable.ts'
import { deriveContext } from '../base/derived-context.ts'
import type { AgentRunContext } from './settings.ts'

/** The function that answers a run. */
export type Answering = (input: RunInput, context: RunContext) => AsyncIterable<Emission>

/** The context of a run for the agent's own code. */
export function callOf({ text, parts }: RunInput, context: RunContext): AgentRunContext {
  return deriveContext(context, { text, parts })
}
