import { toAppError } from '../../core/error.ts'
import { isFinalEvent } from '../../core/event.ts'
import type { Projection } from '../projection.ts'
import { doneFrame, encodeChunk } from './chunk.ts'
import { ChatRun, type ChatRunOptions } from './run.ts'

/** A run as the AI SDK's UI message stream. */
export function chatProjection(options: ChatRunOptions): Projection {
  const run = new ChatRun(options)
  return {
    add(event) {
      let frames = ''
      for (const chunk of run.add(event)) frames += encodeChunk(chunk)
      return event.type !== 'file' && isFinalEvent(event) ? frames + doneFrame : frames
    },
    broken: (error) => encodeChunk({ type: 'error', errorText: toAppError(error).message }) + doneFrame,
  }
}
