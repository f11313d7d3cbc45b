import type { ResolvedConfig } from '../../../config/types.ts'
import { telemetryState } from '../../../server/telemetry.ts'
import { type Finding, ok, warning } from './finding.ts'

/** Nothing without telemetry. */
export function* checkTelemetry(config: ResolvedConfig): Generator<Finding> {
  const state = telemetryState(config)
  if (state === undefined) return
  const { source, install } = state
  if (install === undefined) yield ok('telemetry', `spans of runs are exported, by ${source}`)
  else yield warning('telemetry', `${source} is set, and no spans are exported: their package is missing`, install)
}
