import type { RunEvent } from '../event.ts'
import { formatCost, formatCount, formatMs } from '../text/format.ts'
import { usageInShort } from '../text/usage.ts'
import { decisionAbout, type EventOf, type StepRecords } from './records.ts'
import type { Step } from './steps.ts'

type Of<Type extends RunEvent['type']> = EventOf<Type> | undefined

/** What is to be known of a step at a glance. */
export function factsOf(step: Step, records: StepRecords): string[] {
  const own = records.of(step)
  const find = <Type extends RunEvent['type']>(type: Type) => own.find((event) => event.type === type) as Of<Type>
  const isTimed = step.kind !== 'end' && step.kind !== 'wait' && step.endMs !== undefined
  const took = isTimed ? formatMs((step.endMs ?? 0) - step.startMs) : undefined
  return [
    ...headOf(step, records),
    `seq ${step.seq}`,
    ...(step.state === 'running' ? ['under way'] : []),
    ...factsOfCall(find('model_call_end')),
    ...(step.kind === 'tool' ? factsOfTool(step, records, find('tool_call'), find('tool_result')) : []),
    ...factsOfSearch(find('retrieval')),
    ...factsOfStep(find('step_end')),
    ...(step.kind === 'wait' ? factsOfWait(find('input_required'), find('run_resumed')) : []),
    ...(step.kind === 'run' || step.kind === 'end' ? factsOfEnd(own.at(-1)) : []),
    took,
  ].filter((fact) => fact !== undefined && fact !== '') as string[]
}

function headOf({ kind, label, callId }: Step, records: StepRecords): string[] {
  if (kind !== 'model') return [kind === 'tool' ? `tool ${label}` : kind]
  const call = records.callOf(callId)
  if (call === undefined) return ['call']
  const failed = call.failuresBefore
  const again = failed === 0 ? [] : [`retry ${failed} after ${failed === 1 ? 'a call' : `${failed} calls`} that failed`]
  return [`call ${call.number} of ${records.calls.length}`, ...again]
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
  { callId }: Step,
  records: StepRecords,
  call: Of<'tool_call'>,
  result: Of<'tool_result'>,
): (string | undefined)[] {
  if (call === undefined) return []
  const asked = records.asked(callId)
  const answer = asked === undefined ? undefined : records.answerTo(asked)
  const decision = answer === undefined ? undefined : decisionAbout(callId, answer)
  const failures = records.failuresBefore(call.call_id)
  return [
    failures === 0 ? undefined : `try ${failures + 1}`,
    decision !== undefined
      ? `${decision} by a person`
      : asked !== undefined && !result
        ? 'waits for a person'
        : undefined,
    result?.denied === true && decision === undefined ? 'refused by the agent’s own rules' : undefined,
    result?.error !== undefined && result.denied !== true ? 'failed' : undefined,
  ]
}

function factsOfSearch(search: Of<'retrieval'>): string[] {
  if (search === undefined) return []
  const told = search.results.filter((result) => result.told !== false).length
  return [`${formatCount(told)} of ${formatCount(search.results.length)} passages told`]
}

function factsOfStep(end: Of<'step_end'>): (string | undefined)[] {
  return end === undefined ? [] : [end.status, end.usage === undefined ? undefined : usageInShort(end.usage)]
}

function factsOfWait(asked: Of<'input_required'>, answer: Of<'run_resumed'>): string[] {
  if (asked === undefined) return []
  if (answer === undefined) return ['waits for a person']
  const decision = decisionAbout(asked.call_id, answer) ?? 'answered'
  return [`${decision} by a person after ${formatMs(Date.parse(answer.at) - Date.parse(asked.at))}`]
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
