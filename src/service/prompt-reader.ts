import type { ModelCallStart, RunEvent } from '../core/event.ts'
import type { RunHead } from '../core/run.ts'
import {
  fromPromptRecord,
  type ToldCall,
  type TurnTexts,
  toFields,
  toldIn,
  turnsNeeded,
  turnTexts,
} from './prompt-record.ts'
import type { RecordedRuns } from './recorded-runs.ts'

/**
 * Makes the prompts of one run's model calls whole again. Its calls must be read in their order, from the first, or from
 * behind one of which is known what it was told.
 */
export class PromptReader {
  readonly #run: Pick<RunHead, 'run_id' | 'session_id' | 'parent_run_id'>
  readonly #recorded: RecordedRuns
  #turns: TurnTexts[] = []
  #all = false
  /** What the call that was read last was told; undefined when that can't be made whole. */
  last: ToldCall | undefined

  constructor(run: Pick<RunHead, 'run_id' | 'session_id' | 'parent_run_id'>, recorded: RecordedRuns, last?: ToldCall) {
    this.#run = run
    this.#recorded = recorded
    this.last = last
  }

  async read(call: ModelCallStart): Promise<void> {
    const { prompt } = call
    if (prompt === undefined) this.last = toldIn(call)
    else {
      await this.#readTurns(turnsNeeded(prompt))
      this.last = fromPromptRecord({ ...call, prompt }, this.last, this.#turns)
    }
  }

  /** The event as it was emitted; without its prompt when that can't be made whole. */
  async expand(event: RunEvent): Promise<RunEvent> {
    if (event.type !== 'model_call_start') return event
    await this.read(event)
    const { prompt, ...rest } = event
    if (prompt === undefined) return event
    return { ...rest, ...(this.last && toFields(this.last)) }
  }

  async #readTurns(count: number): Promise<void> {
    if (count <= this.#turns.length || this.#all) return
    const turns = await this.#recorded.turnsBefore(await this.#rootRunId(), this.#run.session_id, count)
    this.#all = turns.length < count
    this.#turns = turns.map(turnTexts).reverse()
  }

  /** The run that took the turn in the session. */
  async #rootRunId(): Promise<string> {
    let { run_id: runId, parent_run_id: parent } = this.#run
    while (parent !== null) {
      runId = parent
      parent = (await this.#recorded.head(runId)).parent_run_id
    }
    return runId
  }
}
