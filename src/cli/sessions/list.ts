import { print, printJson, say } from '../output.ts'
import { formatTable } from '../table.ts'
import type { SessionsAction } from './action.ts'

export const listSessions: SessionsAction = async ({ withClient, options: { limit }, json }) => {
  const { sessions, next_cursor } = await withClient((client) => client.sessions.list({}, { limit }))
  if (json) {
    for (const session of sessions) printJson(session)
    return undefined
  }
  if (sessions.length === 0) {
    say('No sessions yet.')
    return undefined
  }
  const rows = sessions.map((session) => [
    session.session_id,
    session.agent_id ?? session.team_id ?? session.workflow_id ?? '-',
    String(session.run_count),
    session.runs.at(-1)?.status ?? '-',
    session.updated_at,
  ])
  print(formatTable(['SESSION', 'AGENT', 'RUNS', 'LAST RUN', 'UPDATED'], rows))
  if (next_cursor !== null) say('There are more: --limit shows up to 100.')
  return undefined
}
