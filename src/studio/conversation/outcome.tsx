import type { JSX } from 'preact'
import { isResumable } from '../../core/run.ts'
import { counted } from '../../core/text/format.ts'
import type { Address } from '../state/address/address.ts'
import { type Conversation, isUnderWay, type Turn } from '../state/conversation.ts'
import { useAttempt } from '../state/reading/attempt.ts'
import type { Studio } from '../state/studio.ts'

interface OutcomeProps {
  studio: Studio
  conversation: Conversation
  turn: Turn
  address: Extract<Address, { page: 'chats' }>
  before: number
}

/** Where the run stands when it is not simply done, and what a person can do about it. */
export function Outcome({ studio, conversation, turn, address, before }: OutcomeProps): JSX.Element | null {
  const { run, answer } = turn
  const { problem, isBusy, attempt } = useAttempt()
  const mayRun = studio.may('run')
  const act = (action: () => Promise<unknown>) =>
    // What it shows may be out of date.
    attempt(() => action().finally(() => conversation.read()))
  const failedAt = answer?.failed?.seq
  return (
    <>
      {run.status === 'queued' ? <p class="about">{waitsFor(before)}</p> : null}
      {run.error === null ? null : (
        <p class="failure">
          <span dir="auto">{run.error.message}</span> <code>{run.error.code}</code>{' '}
          {failedAt === undefined ? null : (
            <a href={studio.urlOf({ ...address, runId: run.run_id, seq: failedAt, inside: undefined })}>
              The step that failed
            </a>
          )}
        </p>
      )}
      {run.cancellation_reason === null ? null : (
        <p class="failure" dir="auto">
          Cancelled: {run.cancellation_reason.replaceAll('_', ' ')}
        </p>
      )}
      {run.status === 'interrupted' ? (
        <p class="failure ended">
          The process ended here.
          {conversation.truncated.value.has(run.run_id) ? ' The last moments of the text may be missing.' : ''}
        </p>
      ) : null}
      {mayRun && run.status === 'interrupted' && isResumable(run) ? (
        <button
          type="button"
          disabled={isBusy}
          onClick={() => act(() => studio.client.runs.resume(run.run_id, { background: true }))}
        >
          Resume
        </button>
      ) : null}
      {mayRun && isUnderWay(run) ? (
        <button type="button" disabled={isBusy} onClick={() => act(() => studio.client.runs.cancel(run.run_id))}>
          Stop
        </button>
      ) : null}
      <p role="status" class="note">
        {conversation.notes.value.get(run.run_id)}
      </p>
      <p role="alert" class="wrong">
        {problem}
      </p>
    </>
  )
}

function waitsFor(before: number): string {
  return `Queued: it waits for ${before === 0 ? 'room on the server' : `${counted(before, 'run')} before it`}.`
}
