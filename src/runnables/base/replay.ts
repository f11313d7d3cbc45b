import { isDeepStrictEqual } from 'node:util'
import type { EmittedEvent, RunEvent } from '../../core/event.ts'
import type { FilePart } from '../../core/message.ts'
import type { AgentFiles, Emission, Resumption } from '../../core/runnable.ts'
import { isSamePart } from './question.ts'

/** The part of a run that its code repeats when it is called again. */
export interface Repeated {
  /** What the code did, since it was called with `resumed`. */
  events: readonly RunEvent[]
  /** With what the code was called. */
  resumed: Resumption | undefined
}

/**
 * What the code of a resumed run repeats. A pause for children only calls it again from its beginning, with what it was
 * called with then. After a request of its own it has a new beginning.
 */
export function repeatedBy(resumed: Resumption | undefined): Repeated {
  const events = resumed?.events ?? []
  let end = events.length
  for (let at = events.length - 1; at >= 0; at--) {
    if (events[at]?.type !== 'run_resumed') continue
    const before = events.slice(events.findLastIndex((event, place) => place < at && isStart(event)) + 1, at)
    const requests = before.filter((event) => event.type === 'input_required')
    if (requests.length > 0 && requests.every((request) => request.child_run_id !== undefined)) continue
    end = at
    break
  }
  if (end === events.length) return { events: events.slice(0, -1), resumed: undefined }
  return { events: events.slice(end + 1), resumed: resumptionAt(events.slice(0, end + 1)) }
}

function isStart({ type }: RunEvent): boolean {
  return type === 'run_start' || type === 'run_resumed'
}

function resumptionAt(events: readonly RunEvent[]): Resumption | undefined {
  const last = events.at(-1)
  if (last?.type !== 'run_resumed') return undefined
  const { approved, input, answers } = last
  return { events, approved, input, answers }
}

/**
 * Leaves out what was sent before: text up to the first difference, and of every other type the events that are equal, in
 * order, up to the first that is not.
 */
export async function* withoutSent(
  emissions: AsyncIterable<Emission>,
  sent: readonly RunEvent[],
  files: AgentFiles,
): AsyncGenerator<Emission> {
  let text = sent.map((event) => (event.type === 'text_delta' ? event.text : '')).join('')
  const asks = new Set(
    sent.flatMap((event) => (event.type === 'step_start' && event.kind === 'ask' ? event.step_id : [])),
  )
  const own = sent.filter((event) => !('step_id' in event && asks.has(event.step_id)))
  const others = Map.groupBy(own.map(bodyOf), ({ type }) => type)
  for await (const emission of emissions) {
    if (typeof emission !== 'string' && emission.type !== 'text_delta') {
      // The whole of it was sent.
      if (emission.type === 'data_delta' && (others.get('data')?.length ?? 0) > 0) continue
      const next = others.get(emission.type)?.shift()
      if (next !== undefined && (await isSame(next, emission, files))) continue
      others.delete(emission.type)
      yield emission
      continue
    }
    const said = typeof emission === 'string' ? emission : emission.text
    const same = commonLength(text, said)
    text = same < said.length ? '' : text.slice(same)
    if (same < said.length) yield said.slice(same)
  }
}

function bodyOf({ run_id: _run, seq: _seq, at: _at, ...body }: RunEvent): Omit<RunEvent, 'run_id' | 'seq' | 'at'> {
  return body as EmittedEvent
}

async function isSame(
  sent: object & { type: string },
  emission: Exclude<Emission, string>,
  files: AgentFiles,
): Promise<boolean> {
  if (emission.type !== 'file') return isDeepStrictEqual(sent, { ...emission })
  return isSamePart(sent as FilePart, emission, files)
}

function commonLength(one: string, other: string): number {
  let length = 0
  while (length < one.length && length < other.length && one[length] === other[length]) length++
  // Half of a character can't be sent.
  return length < other.length && /[\uD800-\uDBFF]/.test(other[length - 1] ?? '') ? length - 1 : length
}
