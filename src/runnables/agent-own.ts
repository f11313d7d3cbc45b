import { AppError } from '../core/error.ts'
import type { Emission, RunContext, RunInput } from '../core/runnable.ts'
import { callOf } from './agent-call.ts'
import type { AgentOutput, AgentRunContext } from './agent-settings.ts'

/** An agent's way of answering by its own `run`. What is neither a text nor an event fails the run. */
export function ownAnswer(run: (context: AgentRunContext) => AgentOutput | Promise<AgentOutput>) {
  return async function* (input: RunInput, context: RunContext): AsyncGenerator<Emission> {
    const output: unknown = await run(callOf(input, context))
    if (output === undefined) return
    if (typeof output === 'string') {
      if (output !== '') yield output
      return
    }
    if (!isStream(output)) throw wrongOutput(output)
    for await (const emission of output) {
      if (!isEmission(emission)) throw wrongOutput(emission)
      if (emission !== '') yield emission
    }
  }
}

function isStream(value: unknown): value is AsyncIterable<unknown> | Iterable<unknown> {
  return typeof value === 'object' && value !== null && (Symbol.asyncIterator in value || Symbol.iterator in value)
}

const eventTypes: ReadonlySet<unknown> = new Set<Exclude<Emission, string>['type']>([
  'text_delta',
  'reasoning_delta',
  'data',
  'model_call_start',
  'model_call_end',
  'retrieval',
  'source',
  'tool_call',
  'tool_result',
  'input_required',
  'step_start',
  'step_end',
])

function isEmission(value: unknown): value is Emission {
  if (typeof value === 'string') return true
  return typeof value === 'object' && value !== null && 'type' in value && eventTypes.has(value.type)
}

function wrongOutput(value: unknown): AppError {
  const type = typeof value === 'object' && value !== null && 'type' in value ? ` of type '${String(value.type)}'` : ''
  return new AppError(
    'run_failed',
    `The agent's \`run\` gave a ${value === null ? 'null' : typeof value}${type}; it may give strings and events (${[...eventTypes].join(', ')}).`,
  )
}
