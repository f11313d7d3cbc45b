import { print, printJson, say } from '../../terminal/output.ts'
import { terminalLine } from '../../terminal/text.ts'
import { oneSession, type SessionsAction } from './action.ts'

export const forkSession: SessionsAction = async ({ withClient, args, options: { at, as }, json, signal }) => {
  const sessionId = oneSession('fork', args)
  const session = await withClient(({ sessions }) =>
    sessions.fork(sessionId, { run_id: at, session_id: as }, { signal }),
  )
  if (json) printJson(session)
  else {
    print(terminalLine(session.session_id))
    say(`It has ${session.run_count} runs copied from ${terminalLine(sessionId)}.`)
  }
  return undefined
}
