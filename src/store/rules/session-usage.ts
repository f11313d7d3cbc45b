import { addUsage, isReported, type ModelUsage, type RunRecord, type Usage } from '../../core/run.ts'

type Reported = Pick<RunRecord, 'usage'> & { usage_by_model?: readonly ModelUsage[] | undefined }

/** What one run adds to the sums of its session: by model, or as one sum where no model is known. */
export function usageOf({ usage, usage_by_model: byModel }: Reported): readonly ModelUsage[] {
  if (byModel !== undefined && byModel.length > 0) return byModel
  return usage === null ? [] : [{ model: null, ...usage }]
}

/** The sums by model, by its name; those without a model come first. */
export function sumByModel(parts: Iterable<ModelUsage>): ModelUsage[] {
  const sums = new Map<string | null, ModelUsage>()
  for (const part of parts) {
    const { model } = part
    const before = sums.get(model)
    const sum: ModelUsage = { model, ...addUsage(before ?? null, part) }
    const largest = largestOf(part)
    if (largest !== null) sum.largest_input_tokens = Math.max(largest, before?.largest_input_tokens ?? 0)
    const unreported = (before?.unreported_calls ?? 0) + (part.unreported_calls ?? 0)
    if (unreported > 0) sum.unreported_calls = unreported
    sums.set(model, sum)
  }
  return [...sums.values()].sort((a, b) => ((a.model ?? '') < (b.model ?? '') ? -1 : 1))
}

/** Without the model's name it says nothing about a price. */
export function largestOf({ model, input_tokens, largest_input_tokens, unreported_calls }: ModelUsage): number | null {
  if (model === null) return null
  return largest_input_tokens ?? (unreported_calls === undefined ? input_tokens : null)
}

/** The sum over all models; null when none reported anything. */
export function sumOf(sums: readonly ModelUsage[]): Usage | null {
  return sums.filter(isReported).reduce<Usage | null>(addUsage, null)
}
