import type { ModelCallStart, RunEvent } from '../../core/event.ts'
import type { RunRecord } from '../../core/run.ts'
import type { PromptReader } from './reader.ts'
import { type ToldCall, type TurnTexts, toldIn, toPromptRecord, turnTexts } from './record.ts'

/** What a run's model calls were told, made into what is recorded of it. Does nothing for a run that calls no model. */
export class PromptLog {
  #turns: readonly RunRecord[] = []
  #texts: TurnTexts[] | undefined
  #last: ToldCall | undefined
  #before: { events: readonly RunEvent[]; reader: () => PromptReader } | undefined

  /** `before`: what was recorded before the pause after which the run goes on. */
  constructor(before?: { events: readonly RunEvent[]; reader: () => PromptReader }) {
    this.#before = before
  }

  /** The runnable was told of these turns, the latest last. */
  sawTurns(turns: readonly RunRecord[]): void {
    if (turns.length <= this.#turns.length) return
    this.#turns = turns
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
    this.#texts ??= this.#turns.map(turnTexts).reverse()
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
