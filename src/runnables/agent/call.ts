import type { Emission, RunContext, RunInput } from '../../core/runnable.ts'
import { deriveContext } from '../base/derived-context.ts'
import type { AgentRunContext } from './settings.ts'

export type Answering = (input: RunInput, context: RunContext) => AsyncIterable<Emission>

export function callOf({ text, parts }: RunInput, context: RunContext): AgentRunContext {
  return deriveContext(context, { text, parts })
}
