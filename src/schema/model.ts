import { z } from 'zod'
import { type ModelSetting, problemOfModel } from '../core/model.ts'
import { show } from './field.ts'

/** A model, or what is wrong with it in words that show no key. */
export const modelSetting = z.custom<ModelSetting>((value) => problemOfModel(value) === undefined, {
  error: ({ input }) => `is ${show(input)}, which is not a model: ${problemOfModel(input)}`,
})
