import { isTurn, type ModelUsage, type RunRecord, usageDetails } from '../../../../core/run.ts'
import { largestOf, usageOf } from '../../../rules/session-usage.ts'
import type { Connection } from '../../../sqlite/connection.ts'
import { namesOf } from '../schema/columns.ts'
import { sessionUsage } from '../schema/schema.ts'

/* Keeps the sums of what the turns of a session used, in the commit of the end that reports it. */

const counted = [
  'runs',
  'inputTokens',
  'outputTokens',
  'totalTokens',
  'cachedInputTokens',
  'cachedInputRuns',
  'cacheWriteTokens',
  'cacheWriteRuns',
  'reasoningTokens',
  'reasoningRuns',
  'unreportedCalls',
] as const satisfies (keyof typeof sessionUsage.$inferSelect)[]
const counts = namesOf(sessionUsage, counted)
const columns = [...namesOf(sessionUsage, ['sessionId', 'model']), ...counts, 'largest_input_tokens']

/** The key, the model, and the values of the other columns. */
export type UsageRow = [key: string, model: string, ...(number | null)[]]

/** What a run adds for one model; `sign`: -1 takes it back. The largest call stays: it was made. */
export function usageRow(key: string, used: ModelUsage, sign: 1 | -1 = 1): UsageRow {
  const { model, input_tokens, output_tokens, total_tokens } = used
  const row: UsageRow = [key, model ?? '', sign, sign * input_tokens, sign * output_tokens, sign * total_tokens]
  for (const detail of usageDetails) {
    const tokens = used[detail]
    if (tokens === undefined) row.push(0, 0)
    else row.push(sign * tokens, sign)
  }
  row.push(sign * (used.unreported_calls ?? 0), sign === 1 ? largestOf(used) : null)
  return row
}

/** `from`: SQL that gives rows as JSON arrays in `value`, and the id of their session as `session`. */
export const addToSums = (session: string, from: string) => `INSERT INTO session_usage (${columns.join(', ')})
    SELECT ${[session, ...columns.slice(1).map((_, place) => `value ->> ${place + 1}`)].join(', ')} ${from}
    ON CONFLICT (usage_session_id, usage_model) DO UPDATE SET
      ${counts.map((name) => `${name} = ${name} + excluded.${name}`).join(', ')},
      largest_input_tokens = coalesce(max(largest_input_tokens, excluded.largest_input_tokens),
        largest_input_tokens, excluded.largest_input_tokens)`

const addRows = addToSums('value ->> 0', 'FROM json_each(?) WHERE true')

/** Of turns that were written outside of a batch. The keys of the rows are the ids of their sessions. */
export async function addUsageRows(writer: Connection, rows: readonly UsageRow[]): Promise<void> {
  if (rows.length > 0) await writer.run(addRows, [JSON.stringify(rows)])
}

export async function addUsage(writer: Connection, sessionId: string, used: readonly ModelUsage[]): Promise<void> {
  await addUsageRows(
    writer,
    used.map((one) => usageRow(sessionId, one)),
  )
}

/** The sums of many runs. */
export class UsageSums {
  readonly #byModel = new Map<string, UsageRow>()

  add(used: readonly ModelUsage[]): void {
    for (const one of used) this.#add(usageRow('', one))
  }

  addAll(others: UsageSums): void {
    for (const row of others.#byModel.values()) this.#add(row)
  }

  rowsOf(sessionId: string): UsageRow[] {
    return [...this.#byModel.values()].map(([, model, ...values]) => [sessionId, model, ...values])
  }

  #add([key, model, ...values]: UsageRow): void {
    const [, , ...before] = this.#byModel.get(model) ?? [key, model]
    const largest = Math.max(values.at(-1) ?? 0, before.at(-1) ?? 0)
    const sums = values.map((value, place) => (value ?? 0) + (before[place] ?? 0))
    this.#byModel.set(model, [key, model, ...sums.slice(0, -1), values.at(-1) === null ? null : largest])
  }
}

/** Before a run that called models runs again or ends otherwise. */
export async function takeBackUsage(writer: Connection, run: RunRecord): Promise<void> {
  const used = isTurn(run) ? usageOf(run) : []
  if (used.length === 0) return
  await addUsageRows(
    writer,
    used.map((one) => usageRow(run.session_id, one, -1)),
  )
  await writer.run('DELETE FROM session_usage WHERE usage_session_id = ? AND usage_runs <= 0', [run.session_id])
}

/** With the sessions. */
export async function deleteUsage(writer: Connection, sessionIds: string): Promise<void> {
  await writer.run('DELETE FROM session_usage WHERE usage_session_id IN (SELECT value FROM json_each(?))', [sessionIds])
}
