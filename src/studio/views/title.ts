import type { Studio } from '../state/studio.ts'
import { pages } from './pages.ts'

const name = 'agentserve studio'

/** What a tab of the browser says: how many runs wait, and what is looked at. */
export function titleOf({ status, address, chats }: Studio): string {
  if (status.value !== 'ready') return name
  const waits = chats.waits.value
  const shown = address.value
  const place = shown.page === 'chats' ? placeOf(chats) : pages[shown.page].title
  return `${waits > 0 ? `(${waits}) ` : ''}${place === undefined ? name : `${place} · ${name}`}`
}

function placeOf({ conversation, opened, sessions }: Studio['chats']): string | undefined {
  const sessionId = conversation.value?.sessionId
  if (sessionId === undefined) return undefined
  const head = sessions.rows.value.find(({ session_id }) => session_id === sessionId)
  const title = head?.name ?? head?.title ?? 'Session'
  const run = opened.value
  return run === undefined ? title : `run …${run.runId.slice(-3)} · ${title}`
}
