import { Argument } from 'commander'
import type { Client } from '../../client/client.ts'
import type { CommandModule } from '../command.ts'
import { withClient } from '../connect.ts'
import { UsageError } from '../exit.ts'
import { addConnectFlags, type ConnectOptions, integerBetween } from '../flags.ts'
import { print, printJson, say } from '../output.ts'
import { formatSource, uncited } from '../source-line.ts'
import { formatTable } from '../table.ts'
import { terminalText } from '../terminal-text.ts'

interface SessionsOptions extends ConnectOptions {
  limit?: number
  to?: string
  liveTools?: boolean
}

export const command: CommandModule<SessionsOptions> = {
  define: (command) =>
    void addConnectFlags(command)
      .addArgument(
        new Argument('[action]', 'what to do').choices(['list', 'show', 'delete', 'save-test']).default('list'),
      )
      .argument('[session]', 'the id of a session, for all but list')
      .option('--limit <number>', 'how many, 1 to 100 (default: 20)', integerBetween(1, 100))
      .option('--to <file>', 'for save-test: where (default: test/<session>.session.json)')
      .option('--live-tools', 'for save-test: tools run again, instead of answering what they answered'),
  async run(context, { limit, to, liveTools, ...options }, action = 'list', sessionId) {
    if (action !== 'list' && sessionId === undefined)
      throw new UsageError(`sessions ${action} needs the id of a session.`)
    const json = options.json === true
    await withClient(options, context, async (client) => {
      if (sessionId === undefined || action === 'list') return list(client, limit, json)
      if (action === 'save-test') {
        const { saveTest } = await import('../save-test.ts')
        return saveTest(client, sessionId, { to, liveTools, json })
      }
      return action === 'delete' ? remove(client, sessionId, json) : show(client, sessionId, limit, json)
    })
    return undefined
  },
}

async function list(client: Client, limit: number | undefined, json: boolean): Promise<void> {
  const { sessions, next_cursor } = await client.sessions.list({}, { limit })
  if (json) {
    for (const session of sessions) printJson(session)
    return
  }
  if (sessions.length === 0) {
    say('No sessions yet.')
    return
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
}

async function show(client: Client, sessionId: string, limit: number | undefined, json: boolean): Promise<void> {
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

async function remove(client: Client, sessionId: string, json: boolean): Promise<void> {
  const deleted = await client.sessions.delete(sessionId)
  if (json) printJson(deleted)
  else say(`Deleted ${terminalText(deleted.session_id)}.`)
}
