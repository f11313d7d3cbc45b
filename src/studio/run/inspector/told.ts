import { useEffect, useState } from 'preact/hooks'
import type { PageClient } from '../../../client/page.ts'
import type { TracedCall } from '../../../core/events/trace.ts'
import type { Json } from '../../../core/json.ts'
import type { Step } from '../../../core/steps/step.ts'
import { messageOf } from '../../state/message-of.ts'

/** What a model was told, and the messages of the call before. Undefined while it is read. */
export type Told = { call: TracedCall; before: Json } | { error: string } | undefined

/**
 * Reads a model call's prompt when it is looked at; once more when the call has ended, if it was not in the record yet. Without a
 * run nothing is read.
 */
export function useTold(
  client: PageClient,
  runId: string | undefined,
  { callId }: Partial<Step> = {},
  before: Step | undefined,
  isOver: boolean,
): Told {
  const beforeId = before?.callId
  const [read, setRead] = useState<{ callId: string; told: Told }>()
  const told = read !== undefined && read.callId === callId ? read.told : undefined
  const isTriedAgain = isOver && told !== undefined && 'error' in told
  // biome-ignore lint/correctness/useExhaustiveDependencies: read again for it
  useEffect(() => {
    if (runId === undefined || callId === undefined) return
    const reading = new AbortController()
    const { signal } = reading
    const readCall = async (call: string) => (await client.runs.trace(runId, { call, signal })).calls[0]
    Promise.all([readCall(callId), beforeId === undefined ? undefined : readCall(beforeId)]).then(
      ([call, earlier]) => {
        const told =
          call === undefined ? { error: 'The record has no such call.' } : { call, before: messagesOf(earlier) }
        setRead({ callId, told })
      },
      (error: unknown) => {
        if (!signal.aborted) setRead({ callId, told: { error: messageOf(error) } })
      },
    )
    return () => reading.abort()
  }, [client, runId, callId, beforeId, isTriedAgain])
  return told
}

function messagesOf(call: TracedCall | undefined): Json {
  return call?.messages ?? null
}
