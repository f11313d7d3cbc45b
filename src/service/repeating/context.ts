import type { Again, AgainEdit } from '../../core/again/again.ts'
import type { AgainPlan, RepeatedEvent } from '../../core/again/plan.ts'
import type { RunEvent } from '../../core/event.ts'
import type { JsonObject } from '../../core/json.ts'
import type { RunRecord } from '../../core/run.ts'
import type { Resumption } from '../../core/runnable.ts'

/** A run that repeats another, before it has recorded what it repeats. */
export interface Repeats {
  again: Again
  /** Absent from the beginning. */
  plan?: AgainPlan | undefined
  /** The input is that of the other run in the same session, with its files. */
  keepsInput?: boolean | undefined
}

/** How a run goes on that repeats another: a new one, a resumed one, or a child run. */
export function againOf(
  run: Pick<RunRecord, 'again_of' | 'given'>,
  repeats: Repeats | undefined,
  parent: Again | undefined,
): Again | undefined {
  if (repeats !== undefined) return repeats.again
  if (parent !== undefined) return { after: parent.after, edit: {}, record: parent.record }
  if (run.again_of === null) return undefined
  const {
    messages: _messages,
    passages: _passages,
    tool_output: _output,
    ...edit
  } = (run.given?.edit ?? {}) as AgainEdit
  return { after: run.again_of.after, edit }
}

/** What a run that begins in the middle of a record has behind it. */
export function repeatedPart({ run_id, created_at: at }: RunRecord, { repeated }: AgainPlan): Resumption {
  const stamp = (event: RepeatedEvent, place: number): RunEvent => ({ ...event, run_id, seq: place + 2, at })
  const events = repeated.map((event, place) => stamp(withoutMessages(event), place))
  return { events: [...events, stamp({ type: 'run_resumed', from: 'interrupted' }, repeated.length)] }
}

/** The session's state after the last repeated step that changed it. */
export function repeatedState(events: readonly RepeatedEvent[] | undefined): JsonObject | undefined {
  const last = events?.findLast((event) => event.type === 'step_end' && event.state !== undefined)
  return last?.type === 'step_end' ? last.state : undefined
}

/** What it paused with is answered. */
function withoutMessages(event: RepeatedEvent): RepeatedEvent {
  if (event.type !== 'input_required') return event
  const { messages: _messages, ...rest } = event
  return rest
}
