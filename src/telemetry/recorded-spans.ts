import { isFinalEvent, type RunEvent } from '../core/event.ts'
import type { Part } from '../core/message.ts'
import type { SessionStore } from '../core/store.ts'
import type { Runs } from '../service/services.ts'
import type { Capture } from './draft.ts'
import { type ReadableSpan, type Resource, toReadableSpan } from './readable-span.ts'
import { type EndedRun, RunSpans } from './run-spans.ts'
import type { Sampler } from './sampling.ts'
import { parseTraceparent, spanIdOfChildStep, traceIdOf } from './trace-context.ts'

const eventsAtOnce = 500
const callsAtOnce = 20
const workTypes = [
  'run_resumed',
  'model_call_start',
  'model_call_end',
  'model_fallback',
  'retrieval',
  'tool_call',
  'tool_result',
  'input_required',
  'step_start',
  'step_end',
] as const satisfies RunEvent['type'][]
const contentTypes = [...workTypes, 'text_delta', 'reasoning_delta', 'data', 'file'] as const

/** A run since its start or last resumption. Without `ended`, what a dead process left: all is read from the record. */
export interface EndedStretch {
  runId: string
  ended?: {
    run: EndedRun
    firstSeq: number
    /** The step of the run around it. */
    parentSpanId: string | undefined
    /** What the request of the outermost run brought. */
    traceparent: string | undefined
    outermostId: string
  }
}

export interface RecordedSpansOptions {
  store: Pick<SessionStore, 'findRun' | 'readEvents'>
  runs: () => Pick<Runs, 'trace'>
  sampler: Sampler
  capture: Capture
  maxCharacters: number
  resource: Resource
}

/** Reads the spans of runs from their record. */
export class RecordedSpans {
  readonly #options: RecordedSpansOptions

  constructor(options: RecordedSpansOptions) {
    this.#options = options
  }

  /** Empty for a run that was deleted meanwhile, and for a trace that is not exported. */
  async of(stretch: EndedStretch): Promise<ReadableSpan[]> {
    const { sampler, capture, maxCharacters, resource } = this.#options
    const ended = stretch.ended ?? (await this.#find(stretch.runId))
    if (ended === undefined) return []
    const { run, firstSeq, parentSpanId, traceparent, outermostId } = ended
    const caller = parseTraceparent(traceparent)
    const traceId = caller?.traceId ?? traceIdOf(outermostId)
    if (!sampler(traceId, caller)) return []
    const previousSeq = firstSeq === 1 ? undefined : await this.#resumedBefore(run.run_id, firstSeq)
    const withContents = capture !== 'none'
    const spans = new RunSpans(run, { firstSeq, previousSeq, withContents, maxCharacters })
    await this.#read(run.run_id, firstSeq, withContents ? contentTypes : workTypes, (event) => spans.add(event))
    if (capture === 'prompts') await this.#readPrompts(run.run_id, spans)
    const question = withContents && firstSeq === 1 ? await this.#question(run.run_id) : undefined
    const parent =
      parentSpanId === undefined
        ? caller && { spanId: caller.spanId, isRemote: true }
        : { spanId: parentSpanId, isRemote: false }
    const own = spans.drafts(question)
    const runSpan = own[0] && { spanId: own[0].spanId, isRemote: false }
    return own.map((draft, place) => toReadableSpan(draft, traceId, place === 0 ? parent : runSpan, resource))
  }

  /** The events of the stretch that begins with this number. */
  async #read(
    runId: string,
    firstSeq: number,
    types: readonly RunEvent['type'][],
    take: (event: RunEvent) => void,
  ): Promise<void> {
    for (let after = firstSeq - 1; ; ) {
      const events = await this.#options.store.readEvents(runId, after, eventsAtOnce, types)
      for (const event of events) {
        if (isFinalEvent(event) || (event.type === 'run_resumed' && event.seq > firstSeq)) return
        take(event)
        after = event.seq
      }
      if (events.length === 0) return
    }
  }

  async #readPrompts(runId: string, spans: RunSpans): Promise<void> {
    for (let cursor: string | undefined; ; ) {
      const page = await this.#options.runs().trace(runId, { limit: callsAtOnce, cursor })
      for (const call of page.calls) spans.describe(call)
      if (page.next_cursor === null) return
      cursor = page.next_cursor
    }
  }

  /** As readers of the API get it: an input that a guardrail has refused is not in it. */
  async #question(runId: string): Promise<readonly Part[] | undefined> {
    return (await this.#options.store.findRun(runId))?.messages.find(({ role }) => role === 'user')?.parts
  }

  /** The number of the last resumption before this number, 1 for the start. */
  async #resumedBefore(runId: string, before: number): Promise<number> {
    let last = 1
    for (let after = 0; ; ) {
      const events = await this.#options.store.readEvents(runId, after, eventsAtOnce, ['run_resumed'])
      for (const event of events) {
        if (event.seq >= before) return last
        if (event.type === 'run_resumed') last = event.seq
        after = event.seq
      }
      if (events.length === 0) return last
    }
  }

  async #find(runId: string): Promise<EndedStretch['ended']> {
    const { store } = this.#options
    const run = await store.findRun(runId)
    if (run === undefined) return undefined
    let outermost = run
    while (outermost.parent_run_id !== null) {
      const outer = await store.findRun(outermost.parent_run_id)
      if (outer === undefined) break
      outermost = outer
    }
    const parentId = run.parent_run_id
    const outerSeq = parentId === null ? undefined : await this.#resumedBefore(parentId, Number.MAX_SAFE_INTEGER)
    return {
      run,
      firstSeq: await this.#resumedBefore(runId, Number.MAX_SAFE_INTEGER),
      parentSpanId: outerSeq === undefined ? undefined : spanIdOfChildStep(runId, outerSeq),
      traceparent: outermost.given?.traceparent,
      outermostId: outermost.run_id,
    }
  }
}
