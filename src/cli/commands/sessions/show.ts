import type { Client } from '../../../client/client.ts'
import type { SessionsClient } from '../../../client/sessions.ts'
import { notFound } from '../../../core/error.ts'
import { isEnded } from '../../../core/run.ts'
import { citedFirst } from '../../../core/text/citations.ts'
import { studioLink } from '../../connect/studio-link.ts'
import { activityLines, factsOf } from '../../runs/facts.ts'
import { formatSource, unlisted } from '../../runs/source-line.ts'
import { printWhy } from '../../runs/why.ts'
import { hint } from '../../terminal/called-as.ts'
import { saidIn } from '../../terminal/message-text.ts'
import { print, printJson, say } from '../../terminal/output.ts'
import { terminalLine, terminalText } from '../../terminal/text.ts'
import { printEvents } from '../runs/show.ts'
import { oneSession, type SessionsAction } from './action.ts'

type History = Awaited<ReturnType<SessionsClient['history']>>
type ShownRun = History['runs'][number]

/** The server's maximum. */
const maxInteractions = 1_000

/** A session's conversation and runs. `--events` adds the recorded events, `--why` the model calls of a run. */
export const showSession: SessionsAction = async ({ withClient, args, options, json, signal }) => {
  const sessionId = oneSession('show', args)
  const { limit, all, events, why, replaced } = options
  const interactions = all ? maxInteractions : limit && Math.min(limit, maxInteractions)
  await withClient(async (client, url) => {
    if (why !== undefined) return showWhy(client, sessionId, why, json, signal)
    const history = await client.sessions.history(sessionId, { interactions, replaced, signal })
    if (events) {
      for (const run of history.runs) await showEvents(client, run, json, signal)
    } else {
      const studio = await studioLink(client, url, { sessionId }, signal)
      if (json) printJson(studio === undefined ? history : { ...history, studio_url: studio })
      else await showHistory(client, history, signal)
      if (!json && studio !== undefined) print(`studio  ${terminalLine(studio)}`)
    }
    if (history.has_more && !json) say('There are earlier runs. Use --limit to see more, or --all to see all.')
  })
  return undefined
}

async function showWhy(client: Client, sessionId: string, runId: string, json: boolean, signal: AbortSignal) {
  const run = await client.runs.get(runId, { signal })
  if (run.session_id !== sessionId) throw notFound('run', runId)
  await printWhy(client, runId, json, signal)
}

async function showEvents(client: Client, run: ShownRun, json: boolean, signal: AbortSignal): Promise<void> {
  if (!json) print(headOf(run))
  if (isEnded(run.status)) await printEvents(client, run, json, signal)
  else say(`It is still running. Follow it: ${hint(`runs tail ${terminalLine(run.run_id)}`)}`)
}

async function showHistory(client: Client, { runs, messages }: History, signal: AbortSignal): Promise<void> {
  for (const run of runs) {
    const { tools, searches } = await activityLines(client, run, signal)
    print(
      [headOf(run), ...searches.map((line) => `  searched ${line}`), ...tools.map((line) => `  ${line}`)].join('\n'),
    )
    for (const { role, content, parts } of messages.filter(({ run_id }) => run_id === run.run_id)) {
      print(`${role}\n${terminalText(saidIn(parts)).replace(/^/gm, '  ')}`)
      if (role === 'assistant') await showSources(client, run.run_id, content)
    }
    if (run.error !== null) print(`✗ ${terminalLine(`${run.error.code}: ${run.error.message}`)}`)
    print('')
  }
}

function headOf(run: ShownRun): string {
  return [run.run_id, terminalLine(run.entity_id), ...factsOf(run)].join('  ')
}

async function showSources(client: Client, runId: string, answer: string): Promise<void> {
  const sources = unlisted(citedFirst((await client.runs.get(runId)).sources), answer)
  for (const source of sources) print(`  ${formatSource(source)}`)
}
