import type { RunEvent } from '../event.ts'
import type { CallAnswer } from '../run.ts'
import { formatCost, formatCount, formatMs } from '../text/format.ts'
import { usageInShort } from '../text/usage.ts'
import type { StepRecords } from './records.ts'
import type { EventOf, Step } from './step.ts'

type Of<Type extends RunEvent['type']> = EventOf<Type> | undefined

/** What is to be known of a step at a glance. */
export function factsOf(step: Step, run: StepRecords): string[] {
  const own = run.of(step)
  const find = <Type extends RunEvent['type']>(type: Type) => own.find((event) => event.type === type) as Of<Type>
  const isTimed = step.kind !== 'end' && step.kind !== 'wait' && step.endMs !== undefined
  const took = isTimed ? formatMs((step.endMs ?? 0) - step.startMs) : undefined
  return [
    ...headOf(step, run),
    `seq ${step.seq}`,
    ...(step.state === 'running' ? ['under way'] : []),
    ...factsOfCall(find('model_call_end')),
    ...(step.kind === 'tool' ? factsOfTool(step, run, find('tool_result')) : []),
    ...factsOfSearch(find('retrieval')),
    ...factsOfStep(find('step_end')),
    ...(step.kind === 'wait' ? factsOfWait(step, run) : []),
    ...(step.kind === 'run' || step.kind === 'end' ? factsOfEnd(own.at(-1)) : []),
    took,
  ].filter((fact) => fact !== undefined && fact !== '') as string[]
}

function headOf({ kind, label, number, attempt = 1 }: Step, run: StepRecords): string[] {
  if (kind !== 'model') return [kind === 'tool' ? `tool ${label}` : kind]
  const failed = attempt - 1
  const again = failed === 0 ? [] : [`retry ${failed} after ${failed === 1 ? 'a call' : `${failed} calls`} that failed`]
  return [`call ${number} of ${run.calls.length}`, ...again]
}

function factsOfCall(end: Of<'model_call_end'>): (string | undefined)[] {
  if (end === undefined) return []
  const { finish_reason, usage, cost, first_text_ms, refused, repeated } = end
  return [
    finish_reason,
    refused === true ? 'refused by the provider' : undefined,
    repeated === true ? 'from the record of another run' : undefined,
    usage === null ? 'tokens not reported' : usageInShort(usage),
    cost === undefined ? undefined : formatCost(cost),
    first_text_ms === undefined ? undefined : `first text ${formatMs(first_text_ms)}`,
  ]
}

function factsOfTool(
  { callId, failuresBefore = 0 }: Step,
  run: StepRecords,
  result: Of<'tool_result'>,
): (string | undefined)[] {
  const exchange = run.exchanges.findLast(({ asked }) => asked.call_id === callId)
  const decision = decisionIn(exchange?.given)
  return [
    failuresBefore === 0 ? undefined : `try ${failuresBefore + 1}`,
    decision !== undefined
      ? `${decision} by a person`
      : exchange !== undefined && !result
        ? 'waits for a person'
        : undefined,
    result?.denied === true && decision === undefined ? 'refused by the agent’s own rules' : undefined,
    result?.error !== undefined && result.denied !== true ? 'failed' : undefined,
  ]
}

/** What a person decided. Undefined: it was answered with an input, or not by this. */
export function decisionIn(given: CallAnswer | undefined): 'allowed' | 'refused' | undefined {
  return given?.approved === undefined ? undefined : given.approved ? 'allowed' : 'refused'
}

function factsOfSearch(search: Of<'retrieval'>): string[] {
  if (search === undefined) return []
  const told = search.results.filter((result) => result.told !== false).length
  return [`${formatCount(told)} of ${formatCount(search.results.length)} passages told`]
}

function factsOfStep(end: Of<'step_end'>): (string | undefined)[] {
  return end === undefined ? [] : [end.status, end.usage === undefined ? undefined : usageInShort(end.usage)]
}

function factsOfWait({ seq, startMs, endMs = 0 }: Step, run: StepRecords): string[] {
  const given = run.exchanges.find(({ asked }) => asked.seq === seq)?.given
  if (given === undefined) return ['waits for a person']
  return [`${decisionIn(given) ?? 'answered'} by a person after ${formatMs(endMs - startMs)}`]
}

function factsOfEnd(end: RunEvent | undefined): (string | undefined)[] {
  if (end?.type === 'run_error') return ['failed', end.error.code]
  if (end?.type !== 'run_end') return []
  return [
    end.status,
    end.cancellation_reason,
    end.cache_hit ? 'from the cache' : undefined,
    end.usage === null ? undefined : usageInShort(end.usage),
  ]
}
