import { Troubles } from './troubles.ts'

/** A run as its client was told of it. */
export interface ToldRun {
  /** When it was asked for, by `performance.now()`, and when its client heard of its end. */
  fromMs: number
  toMs: number | undefined
  /** Unique; the agents that note what they do note it too. */
  name: string
  agentId: string
  runId: string | undefined
  sessionId: string | undefined
  /** What the server said that came of it: only what can't change any more. Undefined: nothing was said. */
  end: string | undefined
  /** The answer, when the client got all of it. */
  content: string | undefined
  /** What came as events, by their number, byte for byte. */
  frames: Map<number, string>
}

/** A run that its client is about to ask for. */
export function newRun(name: string, agentId: string, sessionId: string | undefined): ToldRun {
  return {
    ...{ name, agentId, sessionId, runId: undefined, end: undefined, content: undefined },
    fromMs: performance.now(),
    toMs: undefined,
    frames: new Map(),
  }
}

/** The only team of the agents. */
const teamId = 'pair'

/** Everything that clients were told, and what was wrong with it. */
export class Told {
  readonly runs = new Map<string, ToldRun>()
  /** By session, the last state that the server has said it keeps, and the later one that may be there too. */
  readonly states = new Map<string, { kept: number; maybe: number }>()
  /** Paths of what was said to be deleted. */
  readonly deleted = new Set<string>()
  /** The content of files by their path. */
  readonly files = new Map<string, string>()
  /** By source, the word of a document that is in the knowledge base; undefined once it was said to be deleted. */
  readonly documents = new Map<string, string | undefined>()
  readonly violations: string[] = []
  readonly troubles = new Troubles()
  /** Answers by what was asked and what came. */
  readonly answers = new Map<string, number>()
  /** When the faults began, by `performance.now()`: from then on violations have their time, to be held against those of the faults. */
  beganMs: number | undefined
  /** The soak has failed: nobody has to wait for an answer any more. */
  over = false
  reconnections = 0
  /** Requests that were sent again. */
  repeats = 0
  slowestMs = 0

  run(name: string, agentId: string, sessionId?: string): ToldRun {
    const run = newRun(name, agentId, sessionId)
    this.runs.set(name, run)
    return run
  }

  /** The server has named the run: each time the same one. */
  named(run: ToldRun, runId: string | undefined | null): void {
    if (runId === undefined || runId === null) return
    if (run.runId !== undefined && run.runId !== runId) this.wrong(`${run.name} is two runs: ${run.runId} and ${runId}`)
    run.runId ??= runId
  }

  ended(run: ToldRun, end: string, content?: string): void {
    if (run.end !== undefined && run.end !== end)
      this.wrong(`${run.name} (${run.runId}) was ${run.end}, and then ${end}`)
    run.end = end
    run.toMs ??= performance.now()
    if (content !== undefined) run.content = content
  }

  /** Whether the run may have failed because the disk was full: only a team fails so, when it can't start the run of a member. */
  mayLackSpace({ agentId, fromMs, toMs = performance.now() }: Pick<ToldRun, 'agentId' | 'fromMs' | 'toMs'>): boolean {
    return agentId === teamId && this.troubles.isDiskFull(fromMs, toMs)
  }

  count(what: string): void {
    this.answers.set(what, (this.answers.get(what) ?? 0) + 1)
  }

  wrong(what: string): void {
    const atMs = this.beganMs === undefined ? undefined : performance.now() - this.beganMs
    this.violations.push(atMs === undefined ? what : `${(atMs / 1_000).toFixed(1)} s: ${what}`)
  }
}
