import { AppError } from '../../core/error.ts'
import type { Ask, Emission, RunContext, RunInput } from '../../core/runnable.ts'
import { deriveContext } from '../base/derived-context.ts'
import type { AgentRunContext } from './settings.ts'

export type Answering = (input: RunInput, context: RunContext) => AsyncIterable<Emission>

export function callOf({ text, parts }: RunInput, context: RunContext): AgentRunContext {
  return deriveContext(context, { text, parts, ask: context.ask ?? noAsk })
}

const noAsk: Ask = async () => {
  throw new AppError('run_failed', "An agent with `sideEffects: false` can't ask another one. Leave that setting out.")
}
