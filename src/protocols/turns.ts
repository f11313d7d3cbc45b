import { isAppError } from '../core/error.ts'
import type { Message } from '../core/message.ts'
import { isEnded, type RunHead, type RunRecord } from '../core/run.ts'
import type { Services } from '../service/services.ts'

/**
 * The run under way of a conversation whose turns were read after `active`: one that ended in between has its answer there, and one
 * that began in between has none.
 */
export function runUnderWay(active: RunHead | undefined, turns: readonly RunRecord[]): RunHead | undefined {
  const newest = turns.findLast(({ status }) => !isEnded(status))
  return newest ?? (turns.some(({ run_id }) => run_id === active?.run_id) ? undefined : active)
}

type Turns = Pick<Services, 'sessions' | 'runs'>

const pageSizes = [10, 100, 200, 700]

/**
 * The turn that a posted user message began, among the latest 1,000 of the conversation, or the first `pages` of them: the first one has
 * 10 turns. Undefined also for an unknown chat.
 */
export async function findTurn(
  { sessions }: Pick<Turns, 'sessions'>,
  chatId: string,
  messageId: string,
  pages = pageSizes.length,
): Promise<{ run: RunRecord; message: Message } | undefined> {
  let before: string | undefined
  for (const size of pageSizes.slice(0, pages)) {
    const page = await unlessUnknown(
      sessions.history(chatId, size, false, before === undefined ? undefined : { before }),
    )
    for (const run of page?.runs.toReversed() ?? []) {
      const message = run.messages.find((one) => one.role === 'user' && one.message_id === messageId)
      if (message !== undefined) return { run, message }
    }
    before = page?.runs[0]?.run_id
    if (page?.has_more !== true || before === undefined) return undefined
  }
  return undefined
}

async function unlessUnknown<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    if (isAppError(error) && error.code === 'session_not_found') return undefined
    throw error
  }
}
