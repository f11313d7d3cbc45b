import { AppError } from '../../core/error.ts'
import type { Emission, RunContext, RunInput } from '../../core/runnable.ts'
import { callOf } from './call.ts'
import type { AgentOutput, AgentRunContext } from './settings.ts'

/** An agent's way of answering by its own `run`. What is neither a text nor an event fails the run. */
export function ownAnswer(run: (context: AgentRunContext) => AgentOutput | Promise<AgentOutput>) {
  return (input: RunInput, context: RunContext): AsyncIterable<Emission> => ({
    [Symbol.asyncIterator]: () => emissionsOf(() => run(callOf(input, context))),
  })
}

// Not a generator around the agent's own: every fragment would wait for both.
function emissionsOf(run: () => unknown): AsyncIterator<Emission, undefined> {
  let source: AsyncIterator<unknown> | undefined
  return {
    async next() {
      source ??= await open(run)
      const { done, value } = await source.next()
      if (done) return { done, value: undefined }
      if (isEmission(value)) return { done: false, value }
      // Its own end may take for ever; nobody waits for it.
      Promise.resolve(source.return?.()).catch(() => {})
      throw wrongOutput(value)
    },
    async return() {
      await source?.return?.()
      return { done: true, value: undefined }
    },
  }
}

async function open(run: () => unknown): Promise<AsyncIterator<unknown>> {
  const output = await run()
  if (output === undefined) return each([])
  if (typeof output === 'string') return each([output])
  if (!isStream(output)) throw wrongOutput(output)
  return Symbol.asyncIterator in output ? output[Symbol.asyncIterator]() : each(output)
}

async function* each(values: Iterable<unknown>): AsyncGenerator<unknown> {
  yield* values
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
    `The agent's \`run\` yielded a ${value === null ? 'null' : typeof value}${type}. Yield strings or events (${[...eventTypes].join(', ')}).`,
  )
}
