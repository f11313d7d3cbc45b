import type { StepEnd } from '../../core/event.ts'
import { addModelUsage, addUsage, type ModelUsage, modelUsageOf, type Run, type Usage } from '../../core/run.ts'

/** What these child runs used, for the end of their step. */
export function usageOfRuns(runs: readonly (Run | null)[]): Pick<StepEnd, 'usage' | 'usage_by_model'> {
  let usage: Usage | null = null
  let byModel: ModelUsage[] = []
  for (const run of runs) {
    if (run === null) continue
    if (run.usage !== null) usage = addUsage(usage, run.usage)
    for (const sum of modelUsageOf(run.usage, run.usage_by_model)) byModel = addModelUsage(byModel, sum.model, sum)
  }
  return { ...(usage && { usage }), ...(byModel.length > 0 && { usage_by_model: byModel }) }
}
