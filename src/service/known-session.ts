import type { RunRecord } from '../core/run.ts'
import type { Summary } from '../core/summary.ts'

const sessionBytes = 500
const runBytes = 1500
const messageBytes = 500

/** What is known of one session; undefined is what has to be read. Knows what it takes up, as an estimate. */
export class KnownSession {
  readonly sessionId: string
  bytes = sessionBytes
  runsUnderWay = 0
  startsUnderWay = 0
  /** Writes asked for, and those that the store has answered. */
  asked = 0
  answered = 0
  /** The store may not have done them in the order in which it answers: nothing is known until all have been answered. */
  isUnordered = false
  /** Changes with every write, so that a read can tell whether it was overtaken. */
  version = 0
  #runs: RunRecord[] | undefined
  #isWhole = false
  #state: string | undefined
  #summary: Summary | null | undefined

  constructor(sessionId: string) {
    this.sessionId = sessionId
  }

  /** The newest, oldest first. A record here is never changed, only replaced. */
  get runs(): readonly RunRecord[] | undefined {
    return this.#runs
  }

  /** There are no runs before them. */
  get isWhole(): boolean {
    return this.#isWhole
  }

  /** As JSON, since whoever asks for the state may change what it gets. */
  get state(): string | undefined {
    return this.#state
  }

  get summary(): Summary | null | undefined {
    return this.#summary
  }

  /** It has just been created. */
  begin(state: string): void {
    this.setRuns([], true)
    this.setState(state)
    this.setSummary(null)
  }

  clear(): void {
    this.setRuns(undefined, false)
    this.setState(undefined)
    this.setSummary(undefined)
  }

  setRuns(runs: readonly RunRecord[] | undefined, isWhole: boolean): void {
    for (const run of this.#runs ?? []) this.bytes -= bytesOf(run)
    this.#runs = runs && [...runs]
    this.#isWhole = isWhole
    for (const run of runs ?? []) this.bytes += bytesOf(run)
  }

  /** Behind the others, unless it is there. */
  addRun(run: RunRecord): void {
    if (this.#runs === undefined || this.#runs.some(({ run_id }) => run_id === run.run_id)) return
    this.#runs.push(run)
    this.bytes += bytesOf(run)
  }

  /** `change` gives nothing: what is known makes no sense, so all of it goes. */
  replaceRun(runId: string, change: (run: RunRecord) => RunRecord | undefined): void {
    const place = this.#runs?.findLastIndex(({ run_id }) => run_id === runId) ?? -1
    const before = this.#runs?.[place]
    if (this.#runs === undefined || before === undefined) return
    const after = change(before)
    if (after === undefined) this.clear()
    else {
      this.#runs[place] = after
      this.bytes += bytesOf(after) - bytesOf(before)
    }
  }

  /** Lets the oldest runs go until it holds no more than that. */
  trim(maxRuns: number, maxBytes: number): void {
    while (this.#runs !== undefined && (this.#runs.length > maxRuns || this.bytes > maxBytes)) {
      const oldest = this.#runs.shift()
      if (oldest === undefined) return
      this.bytes -= bytesOf(oldest)
      this.#isWhole = false
    }
  }

  setState(state: string | undefined): void {
    this.bytes += 2 * ((state?.length ?? 0) - (this.#state?.length ?? 0))
    this.#state = state
  }

  setSummary(summary: Summary | null | undefined): void {
    this.bytes += 2 * ((summary?.content.length ?? 0) - (this.#summary?.content.length ?? 0))
    this.#summary = summary
  }
}

function bytesOf({ messages, metadata, sources }: RunRecord): number {
  let bytes = runBytes + messageBytes * sources.length
  if (metadata !== null) bytes += 2 * JSON.stringify(metadata).length
  for (const { content, parts } of messages) {
    bytes += messageBytes + 2 * content.length
    for (const part of parts) if (part.type === 'data') bytes += 4 * JSON.stringify(part.data).length
  }
  return bytes
}
