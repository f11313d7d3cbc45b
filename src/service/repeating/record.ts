import type { AgainRecord } from '../../core/again/again.ts'
import { isSameJson, type RecordedCall, recordedCalls } from '../../core/again/recorded-calls.ts'
import type { RunEvent, StepEnd } from '../../core/event.ts'
import type { Json } from '../../core/json.ts'
import type { Run } from '../../core/run.ts'
import type { SessionStore } from '../../core/store.ts'
import type { RecordedRuns } from '../events/reader.ts'

const childrenAtOnce = 100

/** What the record of a run and of all runs inside it answers. */
export async function readRecord(
  store: Pick<SessionStore, 'listRuns'>,
  recorded: Pick<RecordedRuns, 'head' | 'events'>,
  runId: string,
): Promise<AgainRecord> {
  const calls: RecordedCall[] = []
  const own = await eventsOf(runId)
  calls.push(...recordedCalls(own))
  await addChildren(runId)

  async function eventsOf(id: string): Promise<RunEvent[]> {
    const events: RunEvent[] = []
    for await (const batch of recorded.events(await recorded.head(id), 0)) {
      events.push(...batch.filter(({ type }) => kept.has(type)))
    }
    return events
  }

  async function addChildren(id: string): Promise<void> {
    for (let cursor: string | undefined; ; ) {
      const page: { items: Run[]; next: string | null } = await store.listRuns(
        { parent_run_id: id },
        { limit: childrenAtOnce, cursor },
      )
      for (const child of page.items) {
        calls.push(...recordedCalls(await eventsOf(child.run_id)))
        await addChildren(child.run_id)
      }
      if (page.next === null) return
      cursor = page.next
    }
  }

  const steps = stepsOf(own)
  return {
    call: (name, input) => {
      const same = calls.filter((call) => isAnswered(call) && call.name === name && isSameJson(call.input, input))
      return same[0]
    },
    step: (name, occurrence) => steps.get(name)?.[occurrence - 1],
  }
}

const kept: ReadonlySet<string> = new Set(['tool_call', 'tool_result', 'step_start', 'step_end'])

function isAnswered({ output, error }: RecordedCall): boolean {
  return (output as Json | undefined) !== undefined || error !== undefined
}

/** The ends of the outermost steps by name, in the order in which they began. */
function stepsOf(events: readonly RunEvent[]): Map<string, (StepEnd | undefined)[]> {
  const begun = new Map<string, string[]>()
  const ends = new Map<string, StepEnd>()
  for (const event of events) {
    if (event.type === 'step_start' && event.parent_id === undefined && event.kind === undefined) {
      const ids = begun.get(event.name) ?? []
      if (!ids.includes(event.step_id)) begun.set(event.name, [...ids, event.step_id])
    } else if (event.type === 'step_end' && event.status !== 'cancelled' && !ends.has(event.step_id)) {
      ends.set(event.step_id, event)
    }
  }
  return new Map([...begun].map(([name, ids]) => [name, ids.map((id) => ends.get(id))]))
}
