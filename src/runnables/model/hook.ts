import { AppError } from '../../core/error.ts'
import type { ModelObject } from '../../core/model.ts'
import type { AgentHooks, ModelOutcome, ModelParams } from '../agent/hooks.ts'
import type { AgentRunContext } from '../agent/settings.ts'
import { loadSdk } from '../base/sdk.ts'
import { ofProvider, type StreamPart } from './usage.ts'

type Model = Extract<ModelObject, { specificationVersion: 'v4' }>
type Streamed = Awaited<ReturnType<Model['doStream']>>

/** The model with the user's hook around every call; the hook's end delays the end of the stream. */
export async function hookedModel(
  model: ModelObject,
  { name, hook, run }: { name: string; hook: NonNullable<AgentHooks['modelCall']>; run: AgentRunContext },
): Promise<ModelObject> {
  const { wrapLanguageModel } = await loadSdk()
  return wrapLanguageModel({
    model: model as Model,
    middleware: {
      specificationVersion: 'v4',
      async wrapStream({ params, model: inner }) {
        const started = Promise.withResolvers<Streamed>()
        const ended = Promise.withResolvers<ModelOutcome>()
        ended.promise.catch(() => {})
        let why: unknown = new AppError('run_failed', '`hooks.modelCall` did not call next().')
        const next = async (changed: ModelParams = params) => {
          try {
            const result = await inner.doStream(changed)
            started.resolve({ ...result, stream: result.stream.pipeThrough(observe(ended, () => around)) })
          } catch (error) {
            why = error
            ended.reject(error)
          }
          return ended.promise
        }
        const around = (async () => hook({ model: name, params, run }, next))()
        around.then(
          () => started.reject(why),
          (error: unknown) => started.reject(error),
        )
        return started.promise
      },
    },
  })
}

/** Passes a model's stream on, reports its outcome, and lets the hook finish before the stream does. */
function observe(
  ended: PromiseWithResolvers<ModelOutcome>,
  around: () => Promise<unknown>,
): TransformStream<StreamPart, StreamPart> {
  let text = ''
  let failure: { error: unknown } | undefined
  const outcome: { -readonly [KEY in keyof ModelOutcome]: ModelOutcome[KEY] } = {
    text,
    finish_reason: 'other',
    usage: null,
  }
  return new TransformStream<StreamPart, StreamPart>({
    transform(part, controller) {
      if (part.type === 'text-delta') text += part.delta
      else if (part.type === 'error') failure = { error: part.error }
      else if (part.type === 'finish') {
        outcome.finish_reason = part.finishReason.unified
        outcome.usage = ofProvider(part.usage)
      }
      controller.enqueue(part)
    },
    async flush() {
      if (failure === undefined) ended.resolve({ ...outcome, text })
      else ended.reject(failure.error)
      await around()
    },
    cancel(reason) {
      ended.reject(reason)
    },
  })
}
