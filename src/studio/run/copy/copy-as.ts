import type { TracedCall } from '../../../core/events/trace.ts'
import type { OpenedRun } from '../../state/opened-run.ts'
import type { Studio } from '../../state/studio.ts'
import { toMarkdown } from './copy-markdown.ts'
import { type Asked, toCurl, toTypeScript, toUseChat } from './copy-request.ts'

export type Form = 'curl' | 'client' | 'chat' | 'markdown' | 'link' | 'id'

/** Never has the key of the page in it. */
export async function copyAs(
  kind: Form,
  studio: Studio,
  { runId, whole: { root: events } }: OpenedRun,
): Promise<string> {
  if (kind === 'link') return location.href
  if (kind === 'id') return runId
  const run = await studio.client.runs.get(runId)
  if (kind === 'markdown') {
    const calls = studio.can('prompts') ? await readCalls(studio, runId) : undefined
    return toMarkdown({ run, events, calls, link: location.href })
  }
  const asked: Asked = {
    run,
    origin: location.origin,
    prefix: studio.places.prefix,
    needsKey: studio.me.value?.key_id !== undefined,
    isLater: run.parent_run_id === null && isLaterTurn(studio, runId),
  }
  return kind === 'curl' ? toCurl(asked) : kind === 'client' ? toTypeScript(asked) : toUseChat(asked)
}

function isLaterTurn(studio: Studio, runId: string): boolean {
  const conversation = studio.chats.conversation.value
  if (conversation === undefined) return false
  const place = conversation.turns.value.findIndex(({ run }) => run.run_id === runId)
  return place > 0 || (place === 0 && conversation.hasMore.value)
}

async function readCalls(studio: Studio, runId: string): Promise<Map<string, TracedCall>> {
  const calls = new Map<string, TracedCall>()
  let cursor: string | undefined
  do {
    const page = await studio.client.runs.trace(runId, { limit: 100, cursor })
    for (const call of page.calls) calls.set(call.call_id, call)
    cursor = page.next_cursor ?? undefined
  } while (cursor !== undefined)
  return calls
}
