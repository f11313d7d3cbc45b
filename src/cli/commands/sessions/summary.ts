import type { SessionsClient } from '../../../client/sessions.ts'
import { isAppError } from '../../../core/error.ts'
import { print, printJson, say } from '../../terminal/output.ts'
import { terminalText } from '../../terminal/text.ts'
import { oneSession, type SessionsAction } from './action.ts'

/** Prints the latest summary; creates one when there is none, or with `--new`. */
export const summariseSession: SessionsAction = async ({ withClient, args, options, json, signal }) => {
  const sessionId = oneSession('summary', args)
  const summary = await withClient(async ({ sessions }) => {
    const latest = options.new === true ? undefined : await findSummary(sessions, sessionId, signal)
    return latest ?? sessions.summary.generate(sessionId, { signal })
  })
  if (json) printJson(summary)
  else if (summary.content === '') say('This session has no messages yet.')
  else print(terminalText(summary.content))
  return undefined
}

async function findSummary({ summary }: SessionsClient, sessionId: string, signal: AbortSignal) {
  try {
    return await summary.get(sessionId, { signal })
  } catch (error) {
    if (isAppError(error) && error.code === 'summary_not_found') return undefined
    throw error
  }
}
