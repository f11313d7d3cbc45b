import { isDeepStrictEqual } from 'node:util'
import type { Part } from '../../core/message.ts'
import { refuseMessage } from '../../core/refusal.ts'
import type { RunRecord } from '../../core/run.ts'
import type { RunEnd } from '../../core/run-write.ts'
import type { InputCheck } from '../../core/runnable.ts'

/** What the guardrails say of the input of one run. Unchecked or refused input stays hidden from other readers. */
export class RunInputCheck implements InputCheck {
  readonly #run: RunRecord
  readonly #parts: readonly Part[]
  readonly #outer: RunInputCheck | undefined
  readonly #onPassed: () => void
  #state: 'none' | 'unchecked' | 'passed' | 'refused'

  /** `outer`: the check of the run that contains this one. */
  constructor(
    run: RunRecord,
    parts: readonly Part[],
    unchecked: boolean,
    outer: RunInputCheck | undefined,
    onPassed: () => void,
  ) {
    this.#run = run
    this.#parts = parts
    this.#state = unchecked ? 'unchecked' : 'none'
    this.#outer = outer
    this.#onPassed = onPassed
  }

  passInput(parts: readonly Part[]): void {
    if (this.#state !== 'unchecked' || !this.#isInput(parts)) return
    this.#state = 'passed'
    this.#onPassed()
  }

  /** Also refuses the input of the runs around it, when it is the same. */
  refuseInput(parts: readonly Part[]): void {
    if (!this.#isInput(parts)) return
    this.#refuse()
    this.#outer?.refuseInput(parts)
  }

  /** The run ends, unless it pauses: input that no guardrail has passed by then is refused. */
  refuseUnchecked(): void {
    if (this.#state === 'unchecked') this.#refuse()
  }

  /** What the end of the run records. A paused run may still be checked, so its input is not refused yet. */
  toEnd(status: RunEnd['status']): Pick<RunEnd, 'checked' | 'refused'> | undefined {
    if (this.#state === 'passed') return { checked: true }
    return this.#state === 'refused' && status !== 'input_required' ? { refused: this.#refused } : undefined
  }

  /** The ids of this run and of the runs around it whose input is refused. */
  get #refused(): string[] {
    if (this.#state !== 'refused') return []
    return [this.#run.run_id, ...(this.#outer === undefined ? [] : this.#outer.#refused)]
  }

  #refuse(): void {
    this.#state = 'refused'
    this.#run.messages = this.#run.messages.map(refuseMessage)
    this.#run.given = null
  }

  #isInput(parts: readonly Part[]): boolean {
    return parts === this.#parts || isDeepStrictEqual(parts, this.#parts)
  }
}
