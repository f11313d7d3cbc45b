import type { Client } from '../client/client.ts'
import { print, printJson, say } from './output.ts'
import { formatSource, uncited } from './source-line.ts'
import { terminalText } from './terminal-text.ts'

interface Options {
  limit: number | undefined
  json: boolean
}

/** Prints a session's conversation. Throws `session_not_found`. */
export async function showSession(client: Client, sessionId: string, { limit, json }: Options): Promise<void> {
  const history = await client.sessions.history(sessionId, { interactions: limit })
  if (json) {
    printJson(history)
    return
  }
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
