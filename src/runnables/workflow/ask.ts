import type { StepEnd } from '../../core/event.ts'
import { createId } from '../../core/id.ts'
import type { Ask, Asked, ChildInput, Runnable } from '../../core/runnable.ts'
import { wrong } from '../../schema/check.ts'
import { entityOf } from '../base/ask-scope.ts'
import type { Journal } from '../base/journal.ts'
import { type Asking, performAsk } from '../base/perform-ask.ts'
import { toQuestion } from '../base/question.ts'
import { isInsideStep, moveTo } from './step.ts'

export interface AskSurroundings {
  asking: Asking
  journal: Journal
  /** Called when an ask begins; the returned function, when it ends or waits. */
  enter: () => () => void
  wait: () => Promise<never>
}

/** A workflow's `ask`: journaled like a step, by name and occurrence. */
export function createAsk({ asking, journal, enter, wait }: AskSurroundings): Ask {
  function begin(id: string, question: unknown): Promise<Asked> {
    const entity = entityOf(asking.context, id)
    if (isInsideStep())
      throw wrong(id, `ask('${id}') was called inside a step, which can't pause; call it outside the step`)
    const input = toQuestion(id, question)
    const { key, id: stepId = createId('step') } = journal.next('ask', id)
    const { after } = moveTo(stepId)
    return perform({ key, stepId, name: id, after }, entity, input)
  }

  async function perform(
    { key, stepId, name, after }: { key: string; stepId: string; name: string; after: string | undefined },
    entity: Runnable,
    input: ChildInput,
  ): Promise<Asked> {
    const leave = enter()
    try {
      asking.context.signal.throwIfAborted()
      const end = (await journal.enter(key, name, after)) as StepEnd | undefined
      const earlier = { stepId, runIds: journal.runsOf(key), end }
      const start = { step_id: stepId, name, ...(after === undefined ? {} : { after }) }
      const changed = (how: string) => journal.changed(how)
      const outcome = await performAsk(asking, { start, entity, input, earlier, changed, isResumable: true })
      if ('asked' in outcome) return outcome.asked
      for (const request of outcome.requests) await asking.emit(request)
    } finally {
      leave()
    }
    return wait()
  }

  return (id, question) => {
    try {
      const answer = begin(id, question)
      // One that is not awaited may fail after the run has ended; the error is in its step_end.
      answer.catch(() => {})
      return answer
    } catch (error) {
      return Promise.reject(error)
    }
  }
}
