import type { RunEndEvent, RunErrorEvent } from '../../core/event.ts'
import { isFinalEvent } from '../../core/event.ts'
import type { Json } from '../../core/json.ts'
import { filePartOf } from '../../core/message.ts'
import { encodeData } from '../../core/sse.ts'
import { explainEnd } from '../explain-end.ts'
import type { SentFile } from '../files.ts'
import type { Batch } from '../frames.ts'
import type { Projection, ShownEvent } from '../projection.ts'
import { describeError, rpcCodes } from './error.ts'

const doneFrame = encodeData({ type: 'done' })

function contentFrame(text: string): string {
  return `data: {"type":"content","content":${JSON.stringify(text)}}\n\n`
}

/** The dialect streams text only, so data is JSON text. */
function dataFrame(data: Json | SentFile, markData: boolean): string {
  const content = JSON.stringify(data)
  return markData ? encodeData({ type: 'content', content, part: 'data' }) : contentFrame(content)
}

function errorFrame(code: number, message: string): string {
  return encodeData({ type: 'error', code, message })
}

/** A2A's code and text for a run that failed; undefined for a completed one. */
function failureOf(event: RunEndEvent | RunErrorEvent, runId: string): { code: number; message: string } | undefined {
  if (event.type === 'run_error') return { code: rpcCodes.internalError, message: event.error.message }
  if (event.status === 'completed') return undefined
  const reason = event.cancellation_reason ?? null
  const message = explainEnd({ run_id: runId, status: event.status, error: null, cancellation_reason: reason })
  return { code: rpcCodes.internalError, message }
}

/** The first final event of a batch that otherwise has at most the run's start. */
export function onlyFailure(batch: Batch): { code: number; message: string } | undefined {
  for (const event of batch) {
    if (isFinalEvent(event)) return failureOf(event, event.run_id)
    if (event.type !== 'run_start') return undefined
  }
  return undefined
}

/** Whether a batch has more events than the run's start. */
export function hasBegun(batch: Batch): boolean {
  return batch.some((event) => event.type !== 'run_start')
}

/**
 * The run as the dialect's stream: one `content` per text fragment, data part (as JSON) and file, then `error` unless the run completed,
 * then `done`. `markData` tells data from text.
 */
export function dialectProjection(markData: boolean): Projection {
  return {
    add(event: ShownEvent): string {
      if (event.type === 'text_delta') return event.text === '' ? '' : contentFrame(event.text)
      if (event.type === 'file') {
        const content = event.data === undefined ? {} : { data: event.data }
        return dataFrame({ ...filePartOf(event), ...content }, markData)
      }
      if (event.type === 'data') return dataFrame(event.data, markData)
      if (!isFinalEvent(event)) return ''
      const failure = failureOf(event, event.run_id)
      return failure === undefined ? doneFrame : errorFrame(failure.code, failure.message) + doneFrame
    },
    broken(error) {
      const { code, message } = describeError(error)
      return errorFrame(code, message) + doneFrame
    },
  }
}
