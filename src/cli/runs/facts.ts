import type { Client } from '../../client/client.ts'
import type { RunEvent } from '../../core/event.ts'
import { type Cost, isEnded, type Run } from '../../core/run.ts'
import { formatDuration } from '../terminal/duration.ts'
import { terminalLine } from '../terminal/text.ts'
import { shownTime } from '../terminal/when.ts'
import { formatCost } from './cost.ts'
import { formatCounts } from './counts.ts'
import { between } from './line.ts'
import { formatUsage, formatUsageDetails, inShort } from './writer.ts'

/** Only this many events of a run are read. */
const eventLimit = 20_000

interface Activity {
  tools: string[]
  searches: string[]
  /** Models that were given up, and for which. */
  fallbacks: string[]
  firstTextMs: number | undefined
}

/**
 * Lines about an ended run's tools: `weather ×2  14 ms`, and their errors; and about its searches:
 * `"opening hours"  3 of 20 passages  12 ms`.
 */
export async function activityLines(client: Client, run: Run, signal: AbortSignal): Promise<Activity> {
  if (!isEnded(run.status)) return { tools: [], searches: [], fallbacks: [], firstTextMs: undefined }
  const stop = new AbortController()
  let count = 0
  const calls = new Map<string, { times: number; ms: number }>()
  const failures: string[] = []
  const searches: string[] = []
  const fallbacks: string[] = []
  let firstTextMs: number | undefined
  const events = await client.runs.events(run.run_id, { signal: AbortSignal.any([signal, stop.signal]) })
  for await (const event of events) {
    if (++count > eventLimit) break
    if (event.type === 'tool_result') addResult(event)
    else if (event.type === 'text_delta') firstTextMs ??= between(run.started_at ?? run.created_at, event.at)
    else if (event.type === 'model_fallback')
      fallbacks.push(terminalLine(`${event.from} → ${event.to}: ${event.reason}`))
    else if (event.type === 'retrieval')
      searches.push(`${inShort(event.query)}  ${formatCounts(event.results, event.duration_ms)}`)
  }
  stop.abort()
  const tools = [
    ...[...calls].map(([name, { times, ms }]) => `${name}${times > 1 ? ` ×${times}` : ''}  ${formatDuration(ms)}`),
    ...failures.map((text) => `✗ ${text}`),
  ]
  return { tools, searches, fallbacks, firstTextMs }

  function addResult({ name, duration_ms, error, denied }: Extract<RunEvent, { type: 'tool_result' }>): void {
    const shown = terminalLine(name)
    const { times, ms } = calls.get(shown) ?? { times: 0, ms: 0 }
    calls.set(shown, { times: times + 1, ms: ms + duration_ms })
    if (denied) failures.push(`${shown}: denied`)
    else if (error !== undefined) failures.push(terminalLine(`${name}: ${error.message}`))
  }
}

/** What each model used, where there are several or the provider reports more than two numbers. */
export function usageLines({ usage, usage_by_model: byModel = [] }: Pick<Run, 'usage' | 'usage_by_model'>): string[] {
  if (byModel.length > 1)
    return byModel.map((one) => `${terminalLine(one.model ?? 'unknown model')}  ${formatUsageDetails(one)}`)
  const details = usage === null ? '' : formatUsageDetails(usage)
  return usage === null || details === formatUsage(usage) ? [] : [details]
}

/** `run_1  from event 12  in a fork`, for a run that repeats another. */
export function againLines({ again_of: of }: { again_of?: Run['again_of'] }): string[] {
  if (of === undefined || of === null) return []
  const kept = { no: 'not kept', fork: 'in a fork', replace: 'in its place' }[of.keep]
  return [`${terminalLine(of.run_id)}  from ${of.from === null ? 'its beginning' : `event ${of.from}`}  ${kept}`]
}

/** Nothing for a run that is part of its conversation. An older server says nothing of it. */
export function replacedBy({ replaced_by: by }: { replaced_by?: string | null }): string[] {
  return by === undefined || by === null ? [] : [`replaced by ${terminalLine(by)}`]
}

/** The facts of a run record: status, start, duration, tokens and their cost, reason of the end, the run in its place. */
export function factsOf(run: Run & { cost?: Cost | null }): string[] {
  const began = run.started_at ?? run.created_at
  const took = run.completed_at === null ? [] : [`took ${formatDuration(between(began, run.completed_at))}`]
  return [
    run.cancellation_reason === null ? run.status : `${run.status} (${terminalLine(run.cancellation_reason)})`,
    shownTime(run.created_at),
    ...took,
    ...(run.usage === null ? [] : [formatUsage(run.usage)]),
    ...(run.usage === null && !run.cost ? [] : [formatCost(run.cost)]),
    ...(run.cache_hit ? ['from the cache'] : []),
    ...replacedBy(run),
  ]
}
