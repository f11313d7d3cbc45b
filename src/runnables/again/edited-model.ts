import type { CallSettings } from '../../core/again/again.ts'
import type { ModelObject } from '../../core/model.ts'
import { loadSdk } from '../base/sdk.ts'
import type { PlayedModel } from './answer-stream.ts'

/** The model with these settings in every call, whatever the agent's code sets. */
export async function withCallSettings(model: ModelObject, settings: CallSettings | undefined): Promise<ModelObject> {
  if (settings === undefined) return model
  const { wrapLanguageModel } = await loadSdk()
  return wrapLanguageModel({
    model: model as PlayedModel,
    middleware: {
      specificationVersion: 'v4',
      transformParams: async ({ params }) => ({ ...params, ...settings }),
    },
  })
}
