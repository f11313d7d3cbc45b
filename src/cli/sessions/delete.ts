import { printJson, say } from '../output.ts'
import { terminalText } from '../terminal-text.ts'
import { oneSession, type SessionsAction } from './action.ts'

export const deleteSession: SessionsAction = async ({ withClient, args, json }) => {
  const sessionId = oneSession('delete', args)
  const deleted = await withClient((client) => client.sessions.delete(sessionId))
  if (json) printJson(deleted)
  else say(`Deleted ${terminalText(deleted.session_id)}.`)
  return undefined
}
