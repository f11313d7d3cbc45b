/** What has changed: a session, a run, the runs of a session, the turns around a run, or what is in no list any more. */
export interface Change {
  /** Of all changes of this process, from 1. A later one of the same thing takes its place. */
  n: number
  kind: 'session' | 'run' | 'runs' | 'turns' | 'deleted' | 'lists' | 'agents' | 'knowledge'
  id: string
  /** Whose lists it was in; undefined: it is looked up. */
  users?: readonly string[] | undefined
}

/** The newest changes, without what they say: that is read when it is sent. */
export class ChangeRing {
  readonly #size: number
  #changes: Change[] = []
  /** The newest number that is not in the ring. */
  #before = 0
  #last = 0

  constructor(size: number) {
    this.#size = size
  }

  get last(): number {
    return this.#last
  }

  /** Gives it the next number. */
  add(change: Omit<Change, 'n'>): Change {
    const numbered = { ...change, n: ++this.#last }
    this.#changes.push(numbered)
    // In steps: a shift for each would move all.
    if (this.#changes.length >= 2 * this.#size) this.#drop(this.#changes.length - this.#size)
    return numbered
  }

  /** All since then, oldest first; undefined when some are not there any more. */
  since(n: number): readonly Change[] | undefined {
    const begin = Math.max(this.#before, this.#last - this.#size)
    if (n < begin || n > this.#last) return undefined
    return this.#changes.slice(this.#changes.length - (this.#last - n))
  }

  /** Changes from now on may be missed. */
  interrupt(): void {
    this.#last++
    this.#changes = []
    this.#before = this.#last
  }

  #drop(count: number): void {
    this.#changes = this.#changes.slice(count)
    this.#before = this.#last - this.#changes.length
  }
}
