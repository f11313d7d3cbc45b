import { AppError } from '../../core/error.ts'
import type { Json } from '../../core/json.ts'
import { addUsage, type Usage } from '../../core/run.ts'
import type { Emission } from '../../core/runnable.ts'
import { Channel } from '../../runtime/channel.ts'
import { type Answering, callOf } from './call.ts'
import type { AgentHooks } from './hooks.ts'

/** An answer with the user's `run` hook around it. The run ends when both have ended. */
export function hookedRun(answer: Answering, hook: NonNullable<AgentHooks['run']>): Answering {
  return async function* run(input, context): AsyncGenerator<Emission> {
    const queue = new Channel<Emission>()
    let answering: Promise<{ text: string; data: Json | undefined; usage: Usage | null }> | undefined

    async function pump() {
      let text = ''
      let data: Json | undefined
      let usage: Usage | null = null
      for await (const emission of answer(input, context)) {
        if (queue.closed) break
        await queue.push(emission)
        if (typeof emission === 'string') text += emission
        else if (emission.type === 'text_delta') text += emission.text
        else if (emission.type === 'data') data = emission.data
        else if (emission.type === 'model_call_end' && emission.usage !== null) usage = addUsage(usage, emission.usage)
      }
      return { text, data, usage }
    }

    async function around(): Promise<void> {
      await hook(callOf(input, context), () => {
        answering ??= pump()
        return answering
      })
      if (answering === undefined) throw new AppError('run_failed', '`hooks.run` did not call next().')
      await answering
    }

    around().then(
      () => queue.close(),
      (error: unknown) => queue.close({ error }),
    )
    yield* queue
  }
}
