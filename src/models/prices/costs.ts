import type { Cost, ModelUsage, Run, Usage } from '../../core/run.ts'
import type { SessionOverview } from '../../core/session.ts'
import { costOf, type GivenPrices } from './cost.ts'
import { shippedTable } from './table.ts'

export interface PricedCosts {
  /** Another object when the prices have changed. */
  readonly prices: object
  ofRun(run: Pick<Run, 'usage_by_model' | 'created_at' | 'started_at' | 'completed_at'>): Cost | null
  ofSession(session: Pick<SessionOverview, 'usage_by_model' | 'forked_from' | 'created_at' | 'updated_at'>): Cost | null
  ofCall(call: { model?: string; usage: Usage | null; at: string }): Cost | null
  /** With the prices of another config. */
  replace(given: GivenPrices): void
}

const nothing: Usage = { input_tokens: 0, output_tokens: 0, total_tokens: 0 }

/** What runs, sessions and calls cost, each time by the prices of the present config and the shipped table. */
export function createCosts(initial: GivenPrices): PricedCosts {
  const prices = { given: initial, table: shippedTable }
  const sum = (usage: readonly ModelUsage[], from: string | null, to: string | null) =>
    costOf(usage, { from, to }, prices)
  return {
    get prices() {
      return prices.given
    },
    ofRun({ usage_by_model: usage, created_at, started_at, completed_at }) {
      if (usage === undefined) return null
      const from = started_at ?? created_at
      return sum(usage, from, completed_at ?? from)
    },
    // A fork has turns that are older than it.
    ofSession: ({ usage_by_model: usage, forked_from, created_at, updated_at }) =>
      sum(usage, forked_from === null ? created_at : null, updated_at),
    ofCall({ model, usage, at }) {
      if (model === undefined) return null
      if (usage !== null) return sum([{ model, ...usage, largest_input_tokens: usage.input_tokens }], at, at)
      const cost = sum([{ model, ...nothing }], at, at)
      return cost?.local === true ? cost : null
    },
    replace(given) {
      prices.given = given
    },
  }
}
