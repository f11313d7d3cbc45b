import type { ModelCallStart, RunEvent } from '../../core/event.ts'
import type { RunRecord } from '../../core/run.ts'
import type { PromptReader } from './reader.ts'
import { type RunTexts, runTexts, type ToldCall, toldIn, toPromptRecord } from './record.ts'

/** Turns the prompts of a run's model calls into their records. Does nothing for a run that calls no model. */
export class PromptLog {
  #earlier: readonly RunRecord[] = []
  #texts: RunTexts[] | undefined
  #last: ToldCall | undefined
  #before: { events: readonly RunEvent[]; reader: () => PromptReader } | undefined

  /** `before`: the recorded events of a resumed run. */
  constructor(before?: { events: readonly RunEvent[]; reader: () => PromptReader }) {
    this.#before = before
  }

  /** The runnable has read these earlier runs of its session, the latest last. */
  sawRuns(earlier: readonly RunRecord[]): void {
    if (earlier.length <= this.#earlier.length) return
    this.#earlier = earlier
    this.#texts = undefined
  }

  /** The call as it is recorded. */
  async record(call: ModelCallStart): Promise<ModelCallStart> {
    const { type, call_id, model, tools, settings } = call
    const told = toldIn(call)
    if (told === undefined) return call
    if (this.#before !== undefined) {
      this.#last = await lastCall(this.#before.events, this.#before.reader())
      this.#before = undefined
    }
    this.#texts ??= this.#earlier.map(runTexts).reverse()
    const prompt = toPromptRecord(told, this.#last, this.#texts)
    this.#last = told
    return {
      type,
      call_id,
      model,
      prompt,
      ...(tools === undefined || prompt.same?.includes('tools') ? {} : { tools }),
      ...(settings === undefined || prompt.same?.includes('settings') ? {} : { settings }),
    }
  }
}

async function lastCall(events: readonly RunEvent[], reader: PromptReader): Promise<ToldCall | undefined> {
  for (const event of events) if (event.type === 'model_call_start') await reader.read(event)
  return reader.last
}
