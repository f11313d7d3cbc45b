import type { ModelObject } from '../../core/model.ts'
import type { Fallback } from '../../models/fallback.ts'
import type { ModelParams } from '../agent/hooks.ts'
import { loadSdk } from '../base/sdk.ts'

type Model = Extract<ModelObject, { specificationVersion: 'v4' }>

/** Called before every attempt of a model call, with the model's name and the provider's parameters. */
export class ModelObserver {
  onCall: (name: string, params: ModelParams) => Promise<void> | undefined = () => undefined
  /** Called when an attempt fails before its stream begins. */
  onFailure: (error: unknown) => void = () => {}

  /** Awaited when a model is given up for the next one. */
  onFallback: (fallback: Fallback) => Promise<void> | undefined = () => undefined

  /** The model with this observer inside all hooks, so that it sees their changes. */
  async watch(model: ModelObject, name: string): Promise<ModelObject> {
    const { wrapLanguageModel } = await loadSdk()
    return wrapLanguageModel({
      model: model as Model,
      middleware: {
        specificationVersion: 'v4',
        wrapStream: async ({ params, doStream }) => {
          await this.onCall(name, params)
          try {
            return await doStream()
          } catch (error) {
            this.onFailure(error)
            throw error
          }
        },
      },
    })
  }
}
