import { addUsage, type ModelUsage, type RunRecord, type Usage } from '../../core/run.ts'

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
    sums.set(model, sum)
  }
  return [...sums.values()].sort((a, b) => ((a.model ?? '') < (b.model ?? '') ? -1 : 1))
}

/** Without the model's name it says nothing about a price. */
export function largestOf({ model, input_tokens, largest_input_tokens = input_tokens }: ModelUsage): number | null {
  return model === null ? null : largest_input_tokens
}

/** The sum over all models; null without any. */
export function sumOf(sums: readonly ModelUsage[]): Usage | null {
  return sums.reduce<Usage | null>(addUsage, null)
}
