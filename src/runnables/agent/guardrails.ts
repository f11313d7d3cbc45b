import { AppError, messageOf } from '../../core/error.ts'
import type { StepEnd, StepStart } from '../../core/event.ts'
import { createId } from '../../core/id.ts'
import type { Json } from '../../core/json.ts'
import { type Emission, inputCheck, type RunContext } from '../../core/runnable.ts'
import { isObject, show } from '../../schema/field.ts'
import { withAsk } from '../base/ask-scope.ts'
import { withContext } from '../base/run-context.ts'
import { type Answering, callOf } from './call.ts'
import type { AgentRunContext } from './settings.ts'

/** Nothing: it may pass. Or why it may not: the reason becomes the answer. */
// biome-ignore lint/suspicious/noConfusingVoidType: a check that has nothing to say returns nothing
export type Verdict = { refuse: string } | undefined | void

/** A complete answer that no reader has seen yet. */
export interface CheckedAnswer<DATA = Json> {
  readonly text: string
  /** Parsed by `output`; undefined without `output`. */
  readonly data: DATA | undefined
}

export type InputGuardrail = (call: AgentRunContext) => Verdict | Promise<Verdict>
export type OutputGuardrail<DATA = Json> = (
  answer: CheckedAnswer<DATA>,
  call: AgentRunContext,
) => Verdict | Promise<Verdict>

/** Checks of the input and of the answer, in order. The first that refuses ends the run with its reason. */
export interface AgentGuardrails<DATA = Json> {
  input?: InputGuardrail | readonly InputGuardrail[]
  /** With output checks the answer is held back until all have passed it. */
  output?: OutputGuardrail<DATA> | readonly OutputGuardrail<DATA>[]
}

/**
 * An answer with its guardrails. Each check is a step of the run; a refusal is a failed step, and its reason is the
 * whole answer. Refused content is neither streamed nor recorded; a mark replaces a refused input. A check that throws
 * fails the run.
 */
export function guarded(answer: Answering, { input: before, output: after }: AgentGuardrails): Answering {
  const inputChecks = listOf(before)
  const outputChecks = listOf(after)
  return async function* run(input, context): AsyncGenerator<Emission> {
    // A resumed run's input was checked when the run began.
    for (const [place, check] of context.resumed === undefined ? inputChecks.entries() : []) {
      const refusal = yield* checkpoint(nameOf('input', check, place), context, (own) => check(callOf(input, own)))
      if (refusal === undefined) continue
      context[inputCheck]?.refuseInput(input.parts)
      return yield refusal
    }
    if (inputChecks.length > 0 && context.resumed === undefined) context[inputCheck]?.passInput(input.parts)
    if (outputChecks.length === 0) return yield* answer(input, context)
    const held: Emission[] = []
    let text = ''
    let data: Json | undefined
    for await (const emission of answer(input, context)) {
      // What it shows is part of the answer, and worth nothing later.
      if (typeof emission !== 'string' && emission.type === 'data_delta') continue
      if (isHeldBack(emission)) held.push(emission)
      else yield emission
      if (typeof emission === 'string') text += emission
      else if (emission.type === 'text_delta') text += emission.text
      else if (emission.type === 'data') data = emission.data
    }
    for (const [place, check] of outputChecks.entries()) {
      const refusal = yield* checkpoint(nameOf('output', check, place), context, (own) =>
        check({ text, data }, callOf(input, own)),
      )
      if (refusal !== undefined) return yield refusal
    }
    yield* held
  }
}

/** One check as a step of the run; returns the reason of a refusal. */
async function* checkpoint(
  name: string,
  context: RunContext,
  check: (context: RunContext) => Verdict | Promise<Verdict>,
): AsyncGenerator<StepStart | StepEnd, string | undefined> {
  const step_id = createId('step')
  const startedAt = Date.now()
  const end = (rest: Pick<StepEnd, 'status' | 'error'>): StepEnd => {
    return { type: 'step_end', step_id, ...rest, duration_ms: Date.now() - startedAt }
  }
  yield { type: 'step_start', step_id, name }
  let refusal: string | undefined
  try {
    // What a check asks is no part of what `run` asks.
    const own = context.ask === undefined ? undefined : withAsk(context, { parent: step_id })
    refusal = reasonOf(await (own === undefined ? check(context) : withContext(own, () => check(own))), name)
  } catch (error) {
    yield end({ status: 'failed', error: { message: messageOf(error) } })
    throw error
  }
  yield end(refusal === undefined ? { status: 'completed' } : { status: 'failed', error: { message: refusal } })
  return refusal
}

function reasonOf(verdict: unknown, name: string): string | undefined {
  if (verdict === undefined) return undefined
  if (isObject(verdict) && typeof verdict.refuse === 'string' && verdict.refuse !== '') return verdict.refuse
  throw new AppError(
    'run_failed',
    `The ${name} returned ${show(verdict)}. Return nothing, or { refuse: 'the reason' }.`,
  )
}

/** Events that wait for the output checks; a pause follows the text before it. */
const heldBack: ReadonlySet<string> = new Set([
  'text_delta',
  'reasoning_delta',
  'data',
  'file',
  'source',
  'input_required',
])

function isHeldBack(emission: Emission): boolean {
  return typeof emission === 'string' || heldBack.has(emission.type)
}

export function checksInput(guardrails: AgentGuardrails | undefined): boolean {
  return listOf(guardrails?.input).length > 0
}

function listOf<T extends object>(one: T | readonly T[] | undefined): readonly T[] {
  if (one === undefined) return []
  return Array.isArray(one) ? one : [one as T]
}

function nameOf(side: 'input' | 'output', { name }: { name: string }, place: number): string {
  return `${side} guardrail ${name === '' || name === side ? place + 1 : name}`
}
