/** Text or reasoning in one piece, as protocols show it. `seq`: of its first delta, which makes its id. */
export interface Block {
  kind: 'text' | 'reasoning'
  seq: number
}

/**
 * The blocks of a run, which its deltas don't name: a block opens at the first delta of its kind, and closes before any other event that
 * shows, at the start of a model call, and at the end. Each protocol that has blocks asks here, so that all have the same ones.
 */
export class Blocks {
  #open: Block | undefined

  get open(): Block | undefined {
    return this.#open
  }

  /** The block of a delta; `opened` when the delta opens it, `closed`: the one of the other kind that it ends. */
  delta(kind: Block['kind'], seq: number): { block: Block; opened: boolean; closed: Block | undefined } {
    if (this.#open?.kind === kind) return { block: this.#open, opened: false, closed: undefined }
    const closed = this.#open
    const block = { kind, seq }
    this.#open = block
    return { block, opened: true, closed }
  }

  /** The block that was open. */
  close(): Block | undefined {
    const closed = this.#open
    this.#open = undefined
    return closed
  }
}
