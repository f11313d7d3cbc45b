import type { ModelCallStart, RunEvent, Stamp } from '../../core/event.ts'
import type { RunHead } from '../../core/run.ts'
import type { RecordedRuns } from '../events/reader.ts'
import {
  fromPromptRecord,
  isIndependent,
  type ToldCall,
  type TurnTexts,
  toFields,
  toldIn,
  turnsNeeded,
  turnTexts,
} from './record.ts'

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
  /** The number of the latest call that can be read without the calls before it; 0 when none has been read. */
  independent: number

  constructor(
    run: Pick<RunHead, 'run_id' | 'session_id' | 'parent_run_id'>,
    recorded: RecordedRuns,
    last?: ToldCall,
    independent = 0,
  ) {
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
