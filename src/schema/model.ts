import { type ModelSetting, problemOfModel } from '../core/model.ts'
import { show, sound } from './field.ts'

/** A model, or what is wrong with it in words that show no key. */
export const modelSetting = sound<ModelSetting>((value) => {
  const problem = problemOfModel(value)
  return problem === undefined ? undefined : `is ${show(value)}, which is not a model: ${problem}`
})
