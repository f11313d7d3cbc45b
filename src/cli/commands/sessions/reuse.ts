import { UsageError } from '../../command/exit.ts'
import { printJson, say } from '../../terminal/output.ts'
import { terminalLine } from '../../terminal/text.ts'
import { oneSession, type SessionsAction } from './action.ts'
import { filterOf } from './pages.ts'

export const reuseSession: SessionsAction = async ({ withClient, args, options, json, signal }) => {
  const sessionId = oneSession('reuse', args)
  const owners = filterOf(options)
  const given = Object.values(owners).filter((owner) => owner !== undefined)
  if (given.length === 0) throw new UsageError('Name the new owner: --agent, --team, --workflow or --user.')
  const session = await withClient(({ sessions }) => sessions.reuse(sessionId, owners, { signal }))
  if (json) printJson(session)
  else say(`${terminalLine(sessionId)} now belongs to ${given.map(terminalLine).join(', ')}.`)
  return undefined
}
