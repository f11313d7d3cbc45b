import { hideMessage, isWithheld } from '../../core/refusal.ts'
import { isEnded, isTurn, type RunRecord } from '../../core/run.ts'
import type { RunEnd, RunStart } from '../../core/run-write.ts'
import type { Summary } from '../../core/summary.ts'
import { jsonSize } from '../../runtime/json-size.ts'

const sessionBytes = 500
const runBytes = 1500
const messageBytes = 500
/** Counting the size of metadata and data stops here: larger ones are not cached anyway. */
const maxCounted = 2 * 1024 * 1024
/** Runs to keep until a reader asks for more. */
const minRuns = 24

/** The cache entry of one session. Undefined means: must be read. Estimates its own size. */
export class CacheEntry {
  readonly sessionId: string
  bytes = sessionBytes
  /** Neighbours in the LRU list of idle sessions. */
  older: CacheEntry | undefined
  newer: CacheEntry | undefined
  runsUnderWay = 0
  startsUnderWay = 0
  /** Writes begun, and those that the store has answered. */
  asked = 0
  answered = 0
  /** The store may have reordered writes: nothing is known until all are answered. */
  isUnordered = false
  /** Grows with each write, so that a read can tell whether it is stale. */
  version = 0
  /** The largest number of runs that a reader has asked for; more are not kept. */
  #wantedRuns = minRuns
  /** The newest runs, oldest first. A record is never changed, only replaced. */
  #runs: RunRecord[] | undefined
  #isWhole = false
  /** Texts of messages that only the runs themselves may see. */
  readonly #hidden = new Map<string, RunRecord['messages']>()
  #state: string | undefined
  /** The session's present user. */
  userId: string | null | undefined
  #summary: Summary | null | undefined

  constructor(sessionId: string) {
    this.sessionId = sessionId
  }

  /** As JSON, since a caller may change its object. */
  get state(): string | undefined {
    return this.#state
  }

  get summary(): Summary | null | undefined {
    return this.#summary
  }

  get runCount(): number {
    return this.#runs?.length ?? 0
  }

  get isWhole(): boolean {
    return this.#isWhole
  }

  /** Oldest first. The caller must not change them. */
  newestRuns(limit: number): RunRecord[] {
    return this.#runs?.slice(-limit) ?? []
  }

  wantRuns(count: number): void {
    if (count > this.#wantedRuns) this.#wantedRuns = count
  }

  hasRun(runId: string): boolean {
    return this.#placeOf(runId) >= 0
  }

  clear(): void {
    this.#runs = undefined
    this.#isWhole = false
    this.#state = undefined
    this.userId = undefined
    this.#summary = undefined
    this.bytes = sessionBytes
  }

  begin({ session }: RunStart): void {
    this.clear()
    this.#runs = []
    this.#isWhole = true
    this.#summary = null
    this.userId = session?.user_id ?? null
    this.setState(session?.state == null ? 'null' : JSON.stringify(session.state))
  }

  startRun({ run: started, state, unchecked }: RunStart): void {
    const { run_id, messages } = started
    const shown = started.given === null ? started : { ...started, given: null }
    const run = unchecked === true ? { ...shown, messages: messages.map(hideMessage) } : shown
    if (unchecked === true) this.#hidden.set(run_id, messages)
    if (state !== null) this.setState(undefined)
    if (this.#runs === undefined || !isTurn(run) || this.hasRun(run.run_id)) return
    this.#runs.push(run)
    this.bytes += bytesOf(run)
  }

  beginRun(runId: string, at: string): void {
    this.setState(undefined)
    const place = this.#placeOf(runId)
    const run = this.#runs?.[place]
    if (this.#runs !== undefined && run !== undefined) {
      this.#runs[place] = { ...run, status: 'running', started_at: at }
    }
  }

  endRun(end: RunEnd): void {
    if (end.state !== undefined) this.setState(JSON.stringify(end.state))
    const place = this.#placeOf(end.run_id)
    const found = this.#runs?.[place]
    const said = this.#hidden.get(end.run_id)
    this.#hidden.delete(end.run_id)
    if (this.#runs === undefined || found === undefined) return
    const run = said !== undefined && end.checked === true ? { ...found, messages: said } : found
    // It was read between the write of its end and the answer, or while its input was withheld.
    if (isEnded(run.status) || (end.checked === true && isWithheld(run))) this.clear()
    else {
      this.#runs[place] = toEnded(run, end)
      this.bytes += bytesOf(end)
    }
  }

  setRuns(runs: readonly RunRecord[], isWhole: boolean): void {
    for (const run of this.#runs ?? []) this.bytes -= bytesOf(run)
    this.#runs = [...runs]
    this.#isWhole = isWhole
    for (const run of runs) this.bytes += bytesOf(run)
  }

  setState(state: string | undefined): void {
    this.bytes += 2 * ((state?.length ?? 0) - (this.#state?.length ?? 0))
    this.#state = state
  }

  setSummary(summary: Summary | null): void {
    this.bytes += 2 * (summary?.content.length ?? 0)
    this.#summary = summary
  }

  /** Drops the oldest runs until the limits and the wanted number are met. */
  trim(maxRuns: number, maxBytes: number): void {
    const most = Math.min(maxRuns, this.#wantedRuns)
    while (this.#runs !== undefined && (this.#runs.length > most || this.bytes > maxBytes)) {
      const oldest = this.#runs.shift()
      if (oldest === undefined) return
      this.bytes -= bytesOf(oldest)
      this.#isWhole = false
    }
  }

  #placeOf(runId: string): number {
    return this.#runs?.findLastIndex(({ run_id }) => run_id === runId) ?? -1
  }
}

function toEnded(run: RunRecord, end: RunEnd): RunRecord {
  const { status, completed_at, end_seq, cancellation_reason, error, cache_hit, usage, usage_by_model } = end
  const messages = [...run.messages, ...end.messages]
  const ended = { status, completed_at, end_seq, cancellation_reason, error, cache_hit, usage, messages }
  const lists = { sources: [...end.sources], waiting: [...(end.waiting ?? [])] }
  return { ...run, ...ended, ...lists, ...(usage_by_model && { usage_by_model: [...usage_by_model] }) }
}

function bytesOf(part: RunRecord | RunEnd): number {
  let bytes = messageBytes * part.sources.length
  if (part.waiting !== undefined && part.waiting.length > 0) bytes += 4 * jsonSize(part.waiting, maxCounted)
  if ('metadata' in part) bytes += runBytes + 2 * jsonSize(part.metadata, maxCounted)
  for (const { content, parts } of part.messages) {
    bytes += messageBytes + 2 * content.length
    for (const part of parts) if (part.type === 'data') bytes += 4 * jsonSize(part.data, maxCounted)
  }
  return bytes
}
