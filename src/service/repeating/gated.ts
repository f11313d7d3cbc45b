import type { Again } from '../../core/again/again.ts'
import { AppError } from '../../core/error.ts'
import type { Emission, Resumption, RunContext, RunInput, Runnable } from '../../core/runnable.ts'
import { answerTo } from '../../core/waiting.ts'

/** The id of the request with which an entity waits before it begins. */
const begin = 'begin'

/** An entity whose code can't ask before it acts: inside a repeated run it waits for an approval before it begins. */
export function gated(entity: Runnable, name: string, again: Again): Runnable {
  if (again.after === 'live' || entity.repeats === 'steps' || !entity.sideEffects) return entity
  return {
    ...entity,
    async *run(input: RunInput, context: RunContext): AsyncGenerator<Emission> {
      const { resumed } = context
      const place = resumed?.events.findIndex(({ type }) => type === 'run_resumed') ?? -1
      const answer = resumed?.events[place]
      if (resumed === undefined || answer?.type !== 'run_resumed') {
        const prompt = `Allow '${name}' to run? The run that asks repeats another one.`
        yield { type: 'input_required', call_id: begin, kind: 'approval', prompt }
        return
      }
      const { approved, reason } = answerTo(begin, answer)
      if (approved !== true) {
        throw new AppError('run_cancelled', `'${name}' was not approved${reason === undefined ? '.' : `: ${reason}`}`)
      }
      const left = resumed.events.slice(place + 1)
      const since: Resumption | undefined = left.length === 0 ? undefined : { ...resumed, events: left }
      yield* entity.run(input, { ...context, resumed: since })
    },
  }
}
