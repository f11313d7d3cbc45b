import { UsageError } from '../../command/exit.ts'
import { print, printJson, say } from '../../terminal/output.ts'
import { terminalLine } from '../../terminal/text.ts'
import { oneSession, type SessionsAction } from './action.ts'

export const forkSession: SessionsAction = async ({ withClient, args, options: { at, before, as }, json, signal }) => {
  const sessionId = oneSession('fork', args)
  if (at !== undefined && before !== undefined)
    throw new UsageError("--at and --before can't be combined. Use one of them.")
  const fork = { run_id: at, before_run_id: before, session_id: as }
  const session = await withClient(({ sessions }) => sessions.fork(sessionId, fork, { signal }))
  if (json) printJson(session)
  else {
    print(terminalLine(session.session_id))
    say(`It has ${session.run_count} runs copied from ${terminalLine(sessionId)}.`)
  }
  return undefined
}
