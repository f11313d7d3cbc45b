import type { ModelCallStart, RunEvent, Stamp } from '../../core/event.ts'
import type { RunHead } from '../../core/run.ts'
import type { PartOfTurn, RecordedRuns } from '../events/reader.ts'
import {
  fromPromptRecord,
  isIndependent,
  type RunTexts,
  runsNeeded,
  runTexts,
  type ToldCall,
  toFields,
  toldIn,
} from './record.ts'

/** Restores the prompts of one run's model calls. Read the calls in order, from the first or after `last`. */
export class PromptReader {
  readonly #run: PartOfTurn & Pick<RunHead, 'session_id'>
  readonly #recorded: RecordedRuns
  #earlier: RunTexts[] = []
  #all = false
  /** The prompt of the call that was read last; undefined when it can't be restored. */
  last: ToldCall | undefined
  /** Number of the latest call that refers to no earlier call; 0 before the first is read. */
  independent: number

  constructor(run: PartOfTurn & Pick<RunHead, 'session_id'>, recorded: RecordedRuns, last?: ToldCall, independent = 0) {
    this.#run = run
    this.#recorded = recorded
    this.last = last
    this.independent = independent
  }

  async read(call: ModelCallStart & Stamp): Promise<void> {
    const { prompt } = call
    if (prompt === undefined || isIndependent(prompt)) this.independent = call.seq
    if (prompt === undefined) this.last = toldIn(call)
    else {
      await this.#readEarlier(runsNeeded(prompt))
      this.last = fromPromptRecord({ ...call, prompt }, this.last, this.#earlier)
    }
  }

  /** The event as it was emitted, without its prompt when that can't be restored. */
  async expand(event: RunEvent): Promise<RunEvent> {
    if (event.type !== 'model_call_start') return event
    await this.read(event)
    const { prompt, ...rest } = event
    if (prompt === undefined) return event
    return { ...rest, ...(this.last && toFields(this.last)) }
  }

  async #readEarlier(count: number): Promise<void> {
    if (count <= this.#earlier.length || this.#all) return
    const runs = await this.#recorded.recordedBefore(
      await this.#recorded.turnOf(this.#run),
      this.#run.session_id,
      count,
    )
    this.#all = runs.length < count
    this.#earlier = runs.map(runTexts).reverse()
  }
}
