import { AppError } from '../core/error.ts'
import { isFinalEvent, type RunEndEvent, type RunErrorEvent, type RunEvent } from '../core/event.ts'
import { RunFold } from '../core/events/fold.ts'
import type { Json } from '../core/json.ts'
import { lastDataOf, type Part } from '../core/message.ts'
import { markCited } from '../core/text/citations.ts'
import { toWaiting } from '../core/waiting.ts'
import type { RunResult } from '../wire/run.ts'

/** The result of a run, built from its stream. A stream that starts later has only later output. */
export interface StreamedResult
  extends Pick<RunResult, 'run_id' | 'status' | 'content' | 'sources' | 'usage' | 'cache_hit' | 'waiting'> {
  session_id: string | undefined
  parts: Part[]
  /** Its last data part, if any. */
  data: Json | undefined
}

/** A run's answer with its last data part, if any. */
export type RunAnswer = RunResult & { data: Json | undefined }

/** The events of one run, with its ids. `text` and `result` include events that were already read. */
export interface RunStream extends AsyncIterable<RunEvent> {
  readonly runId: string
  readonly sessionId: string | undefined
  /** Reads to the end and returns the text of the answer. Throws like `result`. */
  text(): Promise<string>
  /**
   * Reads to the end and returns the answer. A failed run throws `run_failed`, `run_limit`, `run_interrupted`,
   * `timeout` or `run_cancelled` with its `runId`. A run that waits for input has the status `input_required`.
   */
  result(): Promise<StreamedResult>
}

/** A stream of a run that can be read event by event, as a whole, or partly each way. */
export function toRunStream(
  { runId, sessionId }: { runId: string; sessionId: string | undefined },
  source: AsyncGenerator<RunEvent, void, void>,
): RunStream {
  const fold = new RunFold()
  let end: RunEndEvent | RunErrorEvent | undefined
  async function* readAll(): AsyncGenerator<RunEvent, void, void> {
    for await (const event of source) {
      fold.addRecorded([event])
      if (isFinalEvent(event)) end = event
      yield event
    }
  }
  const events = readAll()
  async function result(): Promise<StreamedResult> {
    for await (const _event of events);
    const about = { runId, sessionId }
    if (end === undefined) throw new AppError('unavailable', 'The stream was left before its end.', about)
    const { status, usage, cache_hit } = assertAnswered(end, about)
    const [{ parts, content } = { parts: [], content: '' }] = fold.messages(runId, '', '')
    const sources = markCited(fold.sources, parts)
    const data = lastDataOf(parts)
    const waiting = status === 'input_required' ? toWaiting(fold.requests) : []
    return { run_id: runId, session_id: sessionId, status, content, parts, data, sources, usage, cache_hit, waiting }
  }
  return { runId, sessionId, [Symbol.asyncIterator]: () => events, result, text: async () => (await result()).content }
}

function assertAnswered(
  end: RunEndEvent | RunErrorEvent,
  about: { runId: string; sessionId: string | undefined },
): RunEndEvent {
  if (end.type === 'run_error') {
    const code = end.error.code === 'run_limit' ? 'run_limit' : 'run_failed'
    throw new AppError(code, end.error.message, about)
  }
  if (end.status === 'interrupted') throw new AppError('run_interrupted', 'The run was interrupted.', about)
  if (end.status !== 'cancelled') return end
  const code = end.cancellation_reason === 'timeout' ? 'timeout' : 'run_cancelled'
  throw new AppError(code, `The run was cancelled: ${end.cancellation_reason ?? 'requested'}.`, about)
}
