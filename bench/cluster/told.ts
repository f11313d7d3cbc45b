/** A run as its client was told of it. */
export interface ToldRun {
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

/** Everything that clients were told, and what was wrong with it. */
export class Told {
  readonly runs = new Map<string, ToldRun>()
  /** By session, the last state that the server has said it keeps, and the later one that may be there too. */
  readonly states = new Map<string, { kept: number; maybe: number }>()
  /** Paths of what was said to be deleted. */
  readonly deleted = new Set<string>()
  /** The content of files by their path. */
  readonly files = new Map<string, string>()
  readonly violations: string[] = []
  /** Answers by what was asked and what came. */
  readonly answers = new Map<string, number>()
  /** The soak has failed: nobody has to wait for an answer any more. */
  over = false
  reconnections = 0
  /** Requests that were sent again. */
  repeats = 0
  slowestMs = 0

  run(name: string, agentId: string, sessionId?: string): ToldRun {
    const run: ToldRun = {
      ...{ name, agentId, sessionId, runId: undefined, end: undefined, content: undefined },
      frames: new Map(),
    }
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
    if (content !== undefined) run.content = content
  }

  count(what: string): void {
    this.answers.set(what, (this.answers.get(what) ?? 0) + 1)
  }

  wrong(what: string): void {
    this.violations.push(what)
  }
}
