import type { TracedRetrieval } from '../../core/events/trace.ts'
import { citedFirst } from '../../core/text/citations.ts'
import { formatRetrieval } from '../runs/retrieval.ts'
import { formatSource } from '../runs/source-line.ts'
import { hint } from '../terminal/called-as.ts'
import { terminalLine } from '../terminal/text.ts'
import type { Conversation } from './conversation.ts'

const pageLimit = 20

/** The searches of the last answer, with the place of each passage. */
export async function showWhy({ client, lastRunId, note }: Conversation): Promise<void> {
  if (lastRunId === undefined) return note('There is no answer yet.')
  const found: TracedRetrieval[] = []
  let cursor: string | undefined
  do {
    const page = await client.runs.trace(lastRunId, { limit: pageLimit, cursor })
    found.push(...page.calls.flatMap(({ retrievals }) => retrievals), ...(page.retrievals ?? []))
    cursor = page.next_cursor ?? undefined
  } while (cursor !== undefined)
  const width = Math.max(40, (process.stdout.columns ?? 80) - 4)
  const lines = found.flatMap((retrieval) => formatRetrieval(retrieval, width))
  const whole = `The prompts: ${hint(`runs show ${terminalLine(lastRunId)} --why`)}`
  note([...(lines.length === 0 ? ['The last run searched nothing.'] : lines), whole].join('\n'))
}

/** Of the last answer, also those that it lists itself. */
export async function showSources({ client, lastRunId, note }: Conversation): Promise<void> {
  if (lastRunId === undefined) return note('There is no answer yet.')
  const { sources } = await client.runs.get(lastRunId)
  note(sources.length === 0 ? 'The last answer names no sources.' : citedFirst(sources).map(formatSource).join('\n'))
}

/** The model of the agent; with another one the last message is answered again. */
export async function takeModel(conversation: Conversation, argument: string): Promise<void> {
  const { client, agentId, lastRunId, note } = conversation
  if (argument !== '') {
    if (lastRunId === undefined) return note('There is no answer to give again yet.')
    const request = { edit: { model: argument }, keep: 'replace' as const }
    const [run] = (await client.runs.again(lastRunId, request)).runs
    if (run === undefined) return
    return conversation.show(`${agentId} · ${argument}`, { runId: run.run_id, sessionId: run.session_id })
  }
  const { model } = await client.agents.get(agentId)
  note(
    [
      `${terminalLine(agentId)} ${modelIn(model)}`,
      '/model <provider/model> answers your last message again with that model. To change it for good, change agent.config.ts.',
    ].join('\n'),
  )
}

function modelIn(model: string | null): string {
  if (model === null) return 'has no model of its own.'
  return model === 'offline' ? 'has no model: its answers are quotes.' : `answers with ${terminalLine(model)}.`
}

export function showAllowed({ allowed, sessionId, note }: Conversation, argument: string): void {
  if (argument === 'off') {
    allowed.forget(sessionId)
    note('Every tool that needs an approval asks again.')
    return
  }
  const names = allowed.names(sessionId).map(terminalLine)
  note(
    names.length === 0
      ? 'No tool is always allowed in this session. Answer an approval with a to allow its tool.'
      : `Always allowed in this session: ${names.join(', ')}. /always off asks again.`,
  )
}
