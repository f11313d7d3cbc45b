import type { RunEndEvent, RunErrorEvent, Stamp } from '../../core/event.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { addModelUsage, isReported, type ModelUsage } from '../../core/run.ts'
import { kindOf } from '../../core/waiting.ts'
import { requestId } from '../call-id.ts'
import { explainEnd } from '../explain-end.ts'
import type { ShownEvent } from '../projection.ts'
import type { AgUiCalls, Asked } from './calls.ts'
import type { AgUiEvent, AgUiUsage, Interrupt, Named, Outcome } from './event.ts'
import { interruptIdOf } from './ids.ts'

const decision: JsonObject = {
  type: 'object',
  properties: { approved: { type: 'boolean' }, reason: { type: 'string' } },
  required: ['approved'],
}

/** What a person is asked. Calls of the client's own tools are none. */
function interruptsOf(asked: readonly Asked[], calls: AgUiCalls): Interrupt[] {
  return asked.flatMap((request) => {
    const kind = kindOf(request)
    if (kind === 'tool') return []
    const { run_id, prompt, tool, data, schema } = request
    const id = interruptIdOf(run_id, requestId(request))
    const metadata: JsonObject = { run_id, ...(data !== undefined && { data }) }
    const isCall = tool !== undefined
    const about = { id, message: prompt, ...(isCall && { toolCallId: calls.idOf(request) }) }
    if (kind === 'approval') {
      return { ...about, reason: isCall ? 'tool_call' : 'confirmation', responseSchema: decision, metadata }
    }
    return { ...about, reason: 'input_required', ...(schema !== undefined && { responseSchema: schema }), metadata }
  })
}

/** How a paused run ends its stream. Before 1.0, clients fail at names of their tools' calls, and find them by themselves. */
export function pauseOutcome({ asked, calls, isModern }: Pick<Ending, 'asked' | 'calls' | 'isModern'>): Outcome {
  const interrupts = interruptsOf(asked, calls)
  if (interrupts.length > 0) return { type: 'interrupt', interrupts }
  if (!isModern) return { type: 'success' }
  return { type: 'success', pendingToolCallIds: asked.map((request) => calls.idOf(request)) }
}

export interface Ending {
  named: Named
  asked: readonly Asked[]
  calls: AgUiCalls
  usage: readonly ModelUsage[]
  /** The data of the answer. */
  result: Json | undefined
  /** The client has said that it speaks 1.0. */
  isModern: boolean
}

export function endOf(event: (RunEndEvent | RunErrorEvent) & Stamp, ending: Ending): AgUiEvent {
  const { named, usage, result, isModern } = ending
  const used = toUsage(usage)
  const more = used.length === 0 ? {} : { usage: used }
  if (event.type === 'run_error') {
    return { type: 'RUN_ERROR', message: event.error.message, code: event.error.code, ...more }
  }
  const { status, run_id, cancellation_reason = null } = event
  const finished = (outcome: Outcome, answer?: Json) => ({
    type: 'RUN_FINISHED' as const,
    ...named,
    outcome,
    ...(answer !== undefined && answer !== null && { result: answer }),
    ...more,
  })
  if (status === 'completed') return finished({ type: 'success' }, result)
  if (status === 'input_required') return finished(pauseOutcome(ending))
  if (status === 'cancelled' && isModern) return finished({ type: 'cancelled' })
  const message = explainEnd({ run_id, status, error: null, cancellation_reason })
  return { type: 'RUN_ERROR', message, code: status === 'cancelled' ? 'run_cancelled' : `run_${status}`, ...more }
}

/** What a stretch has used by model: its calls and steps. */
export function addUsageOf(sums: readonly ModelUsage[], event: ShownEvent): readonly ModelUsage[] {
  if (event.type === 'model_call_end') {
    return event.usage === null ? sums : addModelUsage(sums, event.model ?? null, event.usage)
  }
  if (event.type !== 'step_end') return sums
  const { usage, usage_by_model = usage === undefined ? [] : [{ model: null, ...usage }] } = event
  return usage_by_model.filter(isReported).reduce((sum, one) => addModelUsage(sum, one.model, one), sums)
}

function toUsage(sums: readonly ModelUsage[]): AgUiUsage[] {
  return sums.map((sum) => ({
    ...(sum.model !== null && { model: sum.model }),
    inputTokens: sum.input_tokens,
    outputTokens: sum.output_tokens,
    totalTokens: sum.total_tokens,
    ...(sum.reasoning_tokens !== undefined && { reasoningTokens: sum.reasoning_tokens }),
    ...(sum.cached_input_tokens !== undefined && { cachedInputTokens: sum.cached_input_tokens }),
    ...(sum.cache_write_tokens !== undefined && { cacheWriteInputTokens: sum.cache_write_tokens }),
  }))
}
