import type { Cost, RunRecord } from '../../core/run.ts'
import { formatDuration } from '../terminal/duration.ts'
import type { Paint } from '../terminal/paint.ts'
import { terminalLine } from '../terminal/text.ts'
import { formatCost } from './cost.ts'
import { formatUsage } from './writer.ts'

/** What the run's record does not say by itself. */
export interface RunFacts {
  /** Undefined when there was no text. */
  firstTokenMs: number | undefined
  tools: ReadonlyMap<string, number>
  /** Calls that were not approved. */
  denied: number
  /** Searches of the knowledge base; `ms` of those that say how long they took. */
  searches: { count: number; ms: number | undefined }
  /** Errors that tools threw and the model was told. */
  toolErrors: readonly string[]
  cost: Cost | null
  /** What the log says of the failures of the run and of those inside it; further lines say where. */
  failures?: RunFailures | undefined
}

export interface RunFailures {
  /** In place of the record's words. */
  own: string | undefined
  inside: readonly string[]
}

export interface LineStyle {
  paint: Paint
  /** Undefined: unlimited. */
  columns: number | undefined
}

export function formatRun(run: RunRecord, facts: RunFacts, { paint, columns }: LineStyle): string {
  const status = statusWords[run.status] ?? run.status
  const colour = { completed: paint.green, failed: paint.red }[run.status as string] ?? paint.yellow
  const line = (session: string) =>
    [
      status.padEnd(9),
      `${run.parent_run_id === null ? '' : '↳ '}${terminalLine(run.entity_id)}`,
      session,
      ...(facts.firstTokenMs === undefined ? [] : [`first ${formatDuration(facts.firstTokenMs)}`]),
      `total ${formatDuration(between(run.started_at ?? run.created_at, run.completed_at))}`,
      ...(run.usage === null ? [] : [formatUsage(run.usage), formatCost(facts.cost)]),
      ...(facts.denied === 0 ? [] : [`${facts.denied} denied`]),
      ...(run.cache_hit ? ['from the cache'] : []),
      ...(run.cancellation_reason === null ? [] : [terminalLine(run.cancellation_reason)]),
      ...searched(facts.searches),
      ...[...facts.tools].map(([name, times]) => terminalLine(name) + (times > 1 ? ` ×${times}` : '')),
    ].join('  ')
  const whole = line(run.session_id)
  const fits = columns === undefined || whole.length <= columns
  const shown = fits ? whole : cut(line(`…${run.session_id.slice(-6)}`), columns)
  const painted = colour(status.padEnd(9)) + shown.slice(9)
  const below = (text: string) => `\n  ${terminalLine(text).slice(0, shownCharacters)}`
  const toolErrors = facts.toolErrors.slice(0, shownToolErrors).map((text) => paint.yellow(below(text)))
  const block = (text: string, paintLine: (line: string) => string) => {
    const [message = '', ...place] = text.split('\n')
    return [paintLine(below(message)), ...place].join('\n')
  }
  const { own, inside = [] } = facts.failures ?? {}
  const error =
    run.error === null ? '' : block(`${run.error.code}: ${own ?? terminalLine(run.error.message)}`, paint.red)
  return painted + toolErrors.join('') + error + inside.map((text) => block(`↳ ${text}`, paint.yellow)).join('')
}

/** What a narrow terminal can do without stands last. */
function cut(line: string, columns: number): string {
  return line.length <= columns ? line : `${line.slice(0, Math.max(0, columns - 1))}…`
}

function searched({ count, ms }: RunFacts['searches']): string[] {
  if (count === 0) return []
  const times = count === 1 ? '1 search' : `${count} searches`
  return [ms === undefined ? times : `${times} ${formatDuration(ms)}`]
}

const shownCharacters = 500
const shownToolErrors = 3

const statusWords: Partial<Record<RunRecord['status'], string>> = { input_required: 'waits' }

export function between(from: string, to: string | null): number {
  return to === null ? 0 : Math.max(0, Date.parse(to) - Date.parse(from))
}
