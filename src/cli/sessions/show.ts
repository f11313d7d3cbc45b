import type { Client } from '../../client/client.ts'
import type { SessionsClient } from '../../client/sessions.ts'
import { print, printJson, say } from '../output.ts'
import { formatSource, uncited } from '../source-line.ts'
import { terminalText } from '../terminal-text.ts'
import { oneSession, type SessionsAction } from './action.ts'

export const showSession: SessionsAction = async ({ withClient, args, options: { limit }, json }) => {
  const sessionId = oneSession('show', args)
  return withClient(async (client) => {
    const history = await client.sessions.history(sessionId, { interactions: limit })
    if (json) printJson(history)
    else await showHistory(client, history)
    return undefined
  })
}

async function showHistory(client: Client, history: Awaited<ReturnType<SessionsClient['history']>>): Promise<void> {
  for (const message of history.messages) {
    const run = history.runs.find(({ run_id }) => run_id === message.run_id)
    const status =
      message.role === 'assistant' && run !== undefined && run.status !== 'completed' ? ` (${run.status})` : ''
    print(`${message.role}  ${message.created_at}${status}\n${terminalText(message.content).replace(/^/gm, '  ')}\n`)
    if (message.role === 'assistant') await showSources(client, message.run_id, message.content)
  }
  if (history.has_more) say('There are earlier messages: --limit shows up to 100.')
}

async function showSources(client: Client, runId: string, answer: string): Promise<void> {
  const sources = uncited((await client.runs.get(runId)).sources, answer)
  for (const source of sources) print(`  ${formatSource(source)}`)
  if (sources.length > 0) print('')
}
