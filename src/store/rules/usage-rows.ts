import { type ModelUsage, usageDetails } from '../../core/run.ts'
import { largestOf } from './session-usage.ts'

/* The rows in which a session's sums of usage are kept, one a model. */

/** The columns that are added up, in the order of the values. */
export const counted = [
  'runs',
  'input_tokens',
  'output_tokens',
  'total_tokens',
  'cached_input_tokens',
  'cached_input_runs',
  'cache_write_tokens',
  'cache_write_runs',
  'reasoning_tokens',
  'reasoning_runs',
  'unreported_calls',
] as const

/** The key, the model, the values of `counted`, and the largest input of a call. */
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
