import { AppError } from '../../core/error.ts'
import { emittedTypes, isEmittedType } from '../../core/event.ts'
import type { Emission, RunContext, RunInput } from '../../core/runnable.ts'
import { deriveContext } from '../base/derived-context.ts'
import { repeatedBy } from '../base/replay.ts'
import { callOf } from './call.ts'
import type { AgentOutput, AgentRunContext } from './settings.ts'

/** Answers by the agent's own `run`. A yielded value that is neither a string nor an event fails the run. */
export function ownAnswer(run: (context: AgentRunContext) => AgentOutput | Promise<AgentOutput>) {
  return (input: RunInput, context: RunContext): AsyncIterable<Emission> => ({
    [Symbol.asyncIterator]: () => emissionsOf(() => run(callOf(input, asCalled(context)))),
  })
}

/** The context as it was when this call of `run` began. */
function asCalled(context: RunContext): RunContext {
  return context.resumed === undefined
    ? context
    : deriveContext(context, { resumed: repeatedBy(context.resumed).resumed })
}

// Not an async generator around the agent's own: each fragment would wait for both.
function emissionsOf(run: () => unknown): AsyncIterator<Emission, undefined> {
  let source: AsyncIterator<unknown> | undefined
  return {
    async next() {
      source ??= await open(run)
      const { done, value } = await source.next()
      if (done) return { done, value: undefined }
      if (isEmission(value)) return { done: false, value }
      // Not awaited: the agent's generator may never end.
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

function isEmission(value: unknown): value is Emission {
  if (typeof value === 'string') return true
  return typeof value === 'object' && value !== null && 'type' in value && isEmittedType(value.type)
}

function wrongOutput(value: unknown): AppError {
  const type = typeof value === 'object' && value !== null && 'type' in value ? ` of type '${String(value.type)}'` : ''
  return new AppError(
    'run_failed',
    `The agent's \`run\` yielded a ${value === null ? 'null' : typeof value}${type}. Yield strings or events (${emittedTypes.join(', ')}).`,
  )
}
