import { type ModelChoice, problemOfModels } from '../core/model.ts'
import { show, sound } from './field.ts'

/** A model or a list of models, or what is wrong with it in words that show no key. */
export const modelChoice = sound<ModelChoice>((value) => {
  const problem = problemOfModels(value)
  return problem === undefined ? undefined : `is ${show(value)}, which is not a model: ${problem}`
})
