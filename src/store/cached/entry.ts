import { freeze } from '../../core/json.ts'
import { hideMessage, isWithheld } from '../../core/refusal.ts'
import { isEnded, isTurn, type RunRecord } from '../../core/run.ts'
import type { RunEnd, RunStart } from '../../core/run-write.ts'
import type { History, SessionBasis } from '../../core/store.ts'
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
  /** For a store with other writers: of the session, after the last write from here. What is cached is as new, or newer. */
  revision: number | undefined
  /** Tells the session from earlier ones with its id. */
  birth: number | undefined
  /** The run that starts while no other write of the session is under way. */
  starting: string | undefined
  /** Grows with each write, so that a read can tell whether it is stale. */
  version = 0
  /** The largest number of runs that a reader has asked for; more are not kept. */
  #wantedRuns = minRuns
  /** The newest runs, oldest first. A record is never changed, only replaced. */
  #runs: RunRecord[] | undefined
  #isWhole = false
  /** Texts of messages that only the runs themselves may see. */
  readonly #hidden = new Map<string, RunRecord['messages']>()
  /** As JSON, since a caller may change its object. */
  #state: string | undefined
  /** The session's present user. */
  #userId: string | null | undefined
  #summary: Summary | null | undefined

  constructor(sessionId: string) {
    this.sessionId = sessionId
  }

  get basis(): SessionBasis | undefined {
    if (this.#state === undefined || this.#userId === undefined) return undefined
    return { state: JSON.parse(this.#state), user_id: this.#userId }
  }

  get summary(): Summary | null | undefined {
    return this.#summary
  }

  get runCount(): number {
    return this.#runs?.length ?? 0
  }

  /** The caller must not change its runs. */
  history(limit: number): History | undefined {
    if (limit < 1 || (this.runCount < limit && !this.#isWhole)) return undefined
    return { runs: this.#runs?.slice(-limit) ?? [], has_more: this.runCount > limit || !this.#isWhole }
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
    this.#userId = undefined
    this.#summary = undefined
    this.bytes = sessionBytes
    this.revision = undefined
  }

  begin({ session }: RunStart): void {
    this.clear()
    this.#runs = []
    this.#isWhole = true
    this.#summary = null
    this.#userId = session?.user_id ?? null
    this.#setState(session?.state == null ? 'null' : JSON.stringify(session.state))
  }

  startRun({ run: started, state, unchecked }: RunStart): void {
    const { run_id, messages } = started
    if (unchecked === true) this.#hidden.set(run_id, messages)
    if (state !== null) this.#setState(undefined)
    if (this.#runs === undefined || !isTurn(started) || this.hasRun(run_id)) return
    // A run without a user has that of the session.
    const user_id = started.user_id ?? this.#userId
    if (user_id === undefined) {
      this.#forgetRuns()
      return
    }
    const isShown = started.given === null && user_id === started.user_id
    const shown = isShown ? started : { ...started, given: null, user_id }
    const run = unchecked === true ? { ...shown, messages: messages.map(hideMessage) } : shown
    this.#runs.push(run)
    this.bytes += bytesOf(run)
  }

  beginRun(runId: string, at: string): void {
    this.#setState(undefined)
    const place = this.#placeOf(runId)
    const run = this.#runs?.[place]
    if (this.#runs !== undefined && run !== undefined) {
      this.#runs[place] = { ...run, status: 'running', started_at: at }
    }
  }

  /** The message of the run may be seen. */
  showMessage(runId: string): void {
    const messages = this.#hidden.get(runId)
    this.#hidden.delete(runId)
    const place = this.#placeOf(runId)
    const run = this.#runs?.[place]
    if (this.#runs === undefined || run === undefined) return
    if (messages !== undefined) this.#runs[place] = { ...run, messages }
    else if (isWithheld(run)) this.#forgetRuns()
  }

  endRun(end: RunEnd): void {
    if (end.state !== undefined) this.#setState(JSON.stringify(end.state))
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

  /** As it was read with this limit. */
  setHistory({ runs, has_more }: History, limit: number): void {
    if (limit < 1) return
    this.#forgetRuns()
    this.#runs = [...runs]
    this.#isWhole = !has_more
    for (const run of runs) this.bytes += bytesOf(run)
  }

  #forgetRuns(): void {
    for (const run of this.#runs ?? []) this.bytes -= bytesOf(run)
    this.#runs = undefined
    this.#isWhole = false
  }

  setBasis(basis: SessionBasis | undefined): void {
    this.#setState(JSON.stringify(basis?.state ?? null))
    this.#userId = basis?.user_id
  }

  #setState(state: string | undefined): void {
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

/** What is cached of a start must not change any more. Throws for what is not JSON. */
export function freezeStart({ message, run }: RunStart): void {
  freeze(message)
  freeze(run.metadata)
  freeze(run.given)
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
