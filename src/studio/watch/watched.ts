import { effect, signal } from '@preact/signals'
import { isEnded } from '../state/conversation.ts'
import type { OpenedRun } from '../state/opened-run.ts'
import type { RunTree } from '../state/run-tree.ts'
import { messageOf } from '../state/server/message-of.ts'
import type { Studio } from '../state/studio.ts'

/** A pinned turn, and what the last saves made of it. */
export class Watched {
  readonly turn: OpenedRun
  /** Of the last save. */
  readonly now = signal<OpenedRun | undefined>(undefined)
  /** The last that completed, and the one before it. */
  readonly good = signal<readonly [last?: OpenedRun | undefined, before?: OpenedRun | undefined]>([])
  /** Why it could not be asked again. */
  readonly problem = signal('')
  /** Model calls of the runs that are not held any more. */
  #spent = 0
  #asking = 0
  readonly #studio: Studio
  readonly #chats: Studio['chats']
  readonly #off: () => void

  constructor(studio: Studio, runId: string) {
    this.#studio = studio
    this.#chats = studio.chats
    this.turn = this.#chats.openAside(runId)
    this.#off = effect(() => this.#settle())
  }

  /** The record answers tools; what is not in it waits to be allowed. What an earlier save began is given up. */
  async ask(): Promise<void> {
    const asking = ++this.#asking
    this.problem.value = ''
    try {
      await this.#giveUp()
      const { runs } = await this.#studio.client.runs.again(this.turn.runId, { after: 'recorded' })
      // It is one.
      for (const { run_id } of runs) {
        if (asking !== this.#asking) await this.#studio.client.runs.cancel(run_id)
        else this.now.value = this.#chats.openAside(run_id)
      }
    } catch (error) {
      if (asking === this.#asking) this.problem.value = messageOf(error)
    }
  }

  /** Once it has completed, and all of it has come, it is what is shown. */
  #settle(): void {
    const now = this.now.value
    void now?.events.changes.value
    const [last, before] = this.good.peek()
    if (now === undefined || now === last || now.events.status !== 'completed') return
    if (before !== undefined) this.#drop(before)
    this.good.value = [now, last]
    void readInside(now.tree)
    if (isEnded(now.run.peek())) return
    // A busy server tells events first, and what the run has cost some time later.
    this.#studio.client.runs.get(now.runId).then(
      (run) => now.runChanged(run),
      () => {
        // The live stream tells it.
      },
    )
  }

  get calls(): number {
    return this.#held.reduce((sum, { tree }) => sum + callsOf(tree), this.#spent)
  }

  close(): void {
    this.#off()
    this.#asking++
    void this.#giveUp()
    for (const opened of [this.turn, ...this.#held]) this.#chats.closeAside(opened)
  }

  get #held(): OpenedRun[] {
    const now = this.now.value
    const good = this.good.value.filter((opened) => opened !== undefined)
    return now === undefined || good.includes(now) ? good : [now, ...good]
  }

  async #giveUp(): Promise<void> {
    const now = this.now.value
    if (now === undefined || this.good.value.includes(now)) return
    this.now.value = undefined
    this.#drop(now)
    if (isEnded(now.run.value)) return
    await this.#studio.client.runs.cancel(now.runId).catch(() => {
      // It has ended meanwhile; nobody looks at it any more.
    })
  }

  #drop(opened: OpenedRun): void {
    this.#spent += callsOf(opened.tree)
    this.#chats.closeAside(opened)
  }
}

/** How many calls of models a run has made, with those of all that it ran. */
function callsOf(tree: RunTree, runId = tree.runId): number {
  const events = tree.eventsOf(runId)
  if (events === undefined) return 0
  return runsInside(tree, runId).reduce((sum, child) => sum + callsOf(tree, child), events.calls.length)
}

function runsInside(tree: RunTree, runId: string): string[] {
  const steps = tree.eventsOf(runId)?.steps ?? []
  return [...new Set(steps.flatMap(({ childRunId }) => childRunId ?? []))]
}

/** What did not come while it worked. */
async function readInside(tree: RunTree, runId = tree.runId): Promise<void> {
  for (const child of runsInside(tree, runId)) {
    await tree.read(child)
    await readInside(tree, child)
  }
}
