import type { ModelObject } from '../../core/model.ts'
import type { ModelParams } from '../agent/hooks.ts'
import { loadSdk } from '../base/sdk.ts'

type Model = Extract<ModelObject, { specificationVersion: 'v4' }>

/** Hears of every attempt of a model call, with what the provider gets, before it is made. */
export class ModelObserver {
  onCall: (params: ModelParams) => Promise<void> | undefined = () => undefined

  /** The model with this observer next to it: closer than any hook, so that it hears what hooks have changed. */
  async watch(model: ModelObject): Promise<ModelObject> {
    const { wrapLanguageModel } = await loadSdk()
    return wrapLanguageModel({
      model: model as Model,
      middleware: {
        specificationVersion: 'v4',
        wrapStream: async ({ params, doStream }) => {
          await this.onCall(params)
          return doStream()
        },
      },
    })
  }
}
