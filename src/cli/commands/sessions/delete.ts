import { UsageError } from '../../command/exit.ts'
import { printJson, say } from '../../terminal/output.ts'
import { terminalLine } from '../../terminal/text.ts'
import type { SessionsAction } from './action.ts'

export const deleteSession: SessionsAction = async ({ withClient, args, json, signal }) => {
  if (args.length === 0) throw new UsageError('sessions delete needs the id of a session.')
  return withClient(async ({ sessions }) => {
    for (const sessionId of args) {
      const deleted = await sessions.delete(sessionId, { signal })
      if (json) printJson(deleted)
      else say(`Deleted ${terminalLine(deleted.session_id)}.`)
    }
    return undefined
  })
}
