import type { PageClient } from '../../../client/page.ts'
import type { TracedCall } from '../../../core/events/trace.ts'
import type { Json } from '../../../core/json.ts'
import type { Step } from '../../../core/steps/step.ts'
import { useRead } from '../../state/reading/use-read.ts'

/** What a model was told, and the messages of the call before. */
export interface Told {
  value?: { call: TracedCall; before: Json }
  error?: string
}

/** Reads the prompt of a call when it is looked at; once more when the call has ended, if it was not in the record yet. */
export function useTold(
  client: PageClient,
  runId: string,
  /** Undefined: nothing is read. */
  callId: string | undefined,
  before: Step | undefined,
  isOver: boolean,
): Told {
  const read = async (signal: AbortSignal) => {
    // The server refuses calls that it does not know.
    const readCall = async (call: string) => (await client.runs.trace(runId, { call, signal })).calls[0] as TracedCall
    const [call, earlier] = await Promise.all([
      readCall(callId ?? ''),
      before?.callId ? readCall(before.callId) : undefined,
    ])
    return { call, before: earlier?.messages ?? null }
  }
  // Own code may name its calls as another run does.
  const key = callId && `${runId} ${callId}`
  const first = useRead(key, read)
  const again = useRead(isOver && first.error ? key : undefined, read)
  return { ...first, ...again }
}
