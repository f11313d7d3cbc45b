import type { JSX } from 'preact'
import { useAttempt } from '../state/reading/attempt.ts'
import type { Studio } from '../state/studio.ts'
import type { CopiedSession } from './copied-session.ts'

interface ImportProps {
  studio: Studio
  file: File
  copy: CopiedSession
  /** The run that is looked at. */
  runId: string | undefined
}

/** Sends the file to the server, which makes a session of it: with new ids, so that it can be there beside the original. */
export function Import({ studio, file, copy, runId }: ImportProps): JSX.Element | null {
  const { problem, isBusy, attempt } = useAttempt()
  const { sessions } = studio.client
  const { turns } = copy
  const place = turns.findIndex(({ run }) => run.run_id === runId)
  const take = async (isFork: boolean) => {
    let { session_id: sessionId } = await sessions.import(new Uint8Array(await file.arrayBuffer()), { newIds: true })
    if (isFork) {
      // Its runs have new ids, and the same order.
      const { runs } = await sessions.history(sessionId, { interactions: Math.min(1000, turns.length - place) })
      const run_id = runs[0]?.run_id
      if (run_id !== undefined) sessionId = (await sessions.fork(sessionId, { run_id })).session_id
    }
    studio.go({ page: 'chats', sessionId, filter: {} })
  }
  if (!studio.may('sessions')) return null
  return (
    <>
      <button type="button" disabled={isBusy} onClick={() => attempt(() => take(false))}>
        Import
      </button>
      {place < 0 ? null : (
        <button type="button" disabled={isBusy} onClick={() => attempt(() => take(true))}>
          Import and fork at this turn
        </button>
      )}
      <span role="status">{isBusy ? 'Importing…' : ''}</span>
      <span role="alert" class="wrong">
        {problem}
      </span>
    </>
  )
}
