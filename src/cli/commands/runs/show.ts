import type { Client } from '../../../client/client.ts'
import type { RunsClient } from '../../../client/runs.ts'
import type { RunEvent } from '../../../core/event.ts'
import type { Role } from '../../../core/message.ts'
import type { RunTextForm } from '../../../core/run.ts'
import { citedFirst } from '../../../core/text/citations.ts'
import { studioLink } from '../../connect/studio-link.ts'
import { activityLines, againLines, factsOf, usageLines } from '../../runs/facts.ts'
import { formatSource, unlisted } from '../../runs/source-line.ts'
import { readPause, resumeHint, waitingLines } from '../../runs/waiting.ts'
import { printWhy } from '../../runs/why.ts'
import { inShort } from '../../runs/writer.ts'
import { formatDuration } from '../../terminal/duration.ts'
import { saidIn } from '../../terminal/message-text.ts'
import { print, printJson, write } from '../../terminal/output.ts'
import { terminalJson, terminalLine, terminalText } from '../../terminal/text.ts'
import type { RunsAction } from './action.ts'

type RunDetail = Awaited<ReturnType<RunsClient['get']>>

export const showRun: RunsAction = async ({ client, url, runId, options: { events, why, as }, json, signal }) => {
  if (as !== undefined) {
    await printText(client, runId, as, signal)
    return undefined
  }
  if (why) {
    await printWhy(client, runId, json, signal)
    return undefined
  }
  const run = await client.runs.get(runId, { signal })
  if (events) {
    await printEvents(client, run, json, signal)
    return undefined
  }
  const studio = await studioLink(client, url, { sessionId: run.session_id, runId: run.run_id }, signal)
  if (json) printJson(studio === undefined ? run : { ...run, studio_url: studio })
  else {
    const paused = run.status === 'input_required' ? await readPause(client, runId, signal) : undefined
    const activity = await activityLines(client, run, signal)
    print(formatRunDetail({ ...run, waiting: paused?.waiting ?? [] }, activity, studio))
  }
  return undefined
}

/** For a file, a program or another command: only a terminal gets it without control characters. */
async function printText(client: Client, runId: string, as: RunTextForm, signal: AbortSignal): Promise<void> {
  const text = await client.runs.text(runId, { as, signal })
  await write(process.stdout.isTTY ? terminalText(text) : text)
}

export async function printEvents(
  client: Client,
  run: { run_id: string; started_at: string | null; created_at: string },
  json: boolean,
  signal: AbortSignal,
): Promise<void> {
  const begunAt = Date.parse(run.started_at ?? run.created_at)
  for await (const event of await client.runs.events(run.run_id, { signal })) {
    // Shows the record.
    if (event.type === 'data_delta') continue
    await write(json ? `${terminalJson(event)}\n` : eventLine(event, begunAt))
  }
}

function eventLine({ run_id: _run, seq, at, type, ...rest }: RunEvent, begunAt: number): string {
  const since = formatDuration(Math.max(0, Date.parse(at) - begunAt))
  return `${String(seq).padStart(5)} ${since.padStart(9)}  ${type.padEnd(16)} ${inShort(rest, 400)}\n`
}

function formatRunDetail(
  run: RunDetail,
  activity: Awaited<ReturnType<typeof activityLines>>,
  studio: string | undefined,
): string {
  const { tools, searches, fallbacks, firstTextMs } = activity
  const names = [run.session_id, ...(run.parent_run_id === null ? [] : [`part of ${run.parent_run_id}`])]
  const saidBy = (role: Role) =>
    run.messages
      .filter((message) => message.role === role)
      .map(({ parts }) => saidIn(parts))
      .join('\n')
  const answer = saidBy('assistant')
  const error = run.error === null ? [] : [`error    ${terminalLine(`${run.error.code}: ${run.error.message}`)}`]
  return [
    `${run.run_id}  ${run.entity_kind} ${terminalLine(run.entity_id)}`,
    `session  ${names.map(terminalLine).join('  ')}`,
    `status   ${factsOf(run).join('  ')}${run.truncated ? '  the last moments may be missing' : ''}`,
    ...titled('repeats', againLines(run)),
    ...titled('first', firstTextMs === undefined ? [] : [`text after ${formatDuration(firstTextMs)}`]),
    ...titled('tokens', usageLines(run)),
    ...titled('models', fallbacks),
    ...titled('tools', tools),
    ...titled('searched', searches),
    ...error,
    ...waitsFor(run),
    ...titled('studio', studio === undefined ? [] : [terminalLine(studio)]),
    '',
    ...said('input', saidBy('user')),
    ...said('output', answer),
    ...unlisted(citedFirst(run.sources), answer).map(formatSource),
  ].join('\n')
}

function titled(title: string, lines: readonly string[]): string[] {
  return lines.map((line, place) => `${(place === 0 ? title : '').padEnd(9)}${line}`)
}

function waitsFor(run: RunDetail): string[] {
  const lines = waitingLines(run)
  if (lines.length === 0) return []
  return [...titled('waits', lines), `resume   ${resumeHint(run)}`]
}

function said(title: string, text: string): string[] {
  return text === '' ? [] : [title, terminalText(text).replace(/^/gm, '  '), '']
}
