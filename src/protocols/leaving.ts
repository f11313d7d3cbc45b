import { invalid, isAppError } from '../core/error.ts'
import type { Timer, Timers } from '../core/time.ts'
import type { HttpRequest } from '../http/request.ts'
import type { RunHandle, Services } from '../service/services.ts'

type LeavingServices = Pick<Services, 'runs' | 'bookmarks' | 'logger'>

interface Followed {
  readers: number
  /** Runs when there is no reader. */
  timer: Timer | undefined
  /** How often readers had joined the run, on any instance, when the last one here did. */
  joined: number
  /** A reader wanted it to go on. */
  kept: boolean
}

const graceMs = 2000
/** More than any client tries. */
const mostJoined = 100

/** What `X-On-Disconnect` says. Throws `invalid_request`. */
export function continuesAlone({ headers }: Pick<HttpRequest, 'headers'>): boolean {
  const header = headers['x-on-disconnect']
  if (header === undefined || header === 'cancel') return false
  if (header === 'continue') return true
  throw invalid("X-On-Disconnect must be 'cancel' or 'continue'.", 'X-On-Disconnect')
}

/**
 * Cancels a run 2 seconds after its last reader has left, so that a client whose connection broke finds it again. The run has to
 * be started with `onDisconnect: 'continue'`. One value for all routes of a server.
 */
export class Leaving {
  readonly #timers: Timers
  readonly #runs = new Map<string, Followed>()

  constructor(timers: Timers) {
    this.#timers = timers
  }

  /** How many runs are read here, or were until a moment ago. */
  get size(): number {
    return this.#runs.size
  }

  /**
   * Counts the request as a reader of the run until its client leaves. Call it when the run is started, joined or resumed; one that joins
   * a run of another instance takes over to cancel it, and resolves when that instance can see this.
   */
  async follow(services: LeavingServices, request: HttpRequest, handle: RunHandle): Promise<void> {
    const { runId } = handle
    const kept = continuesAlone(request)
    const run = this.#runs.get(runId) ?? this.#add(handle)
    run.readers++
    run.kept ||= kept
    this.#timers.clear(run.timer)
    try {
      if (handle.replayed) run.joined = await this.#join(services, runId, run.joined)
    } finally {
      const leave = () => this.#leave(services, runId, run)
      if (request.signal.aborted) leave()
      else request.signal.addEventListener('abort', leave, { once: true })
    }
  }

  /** Counts the request as a reader of a run that is followed here; of any other run it changes nothing. */
  join(services: LeavingServices, { signal }: Pick<HttpRequest, 'signal'>, runId: string): void {
    const run = this.#runs.get(runId)
    if (run === undefined) return
    run.readers++
    this.#timers.clear(run.timer)
    const leave = () => this.#leave(services, runId, run)
    if (signal.aborted) leave()
    else signal.addEventListener('abort', leave, { once: true })
  }

  #add({ runId, result }: RunHandle): Followed {
    const run: Followed = { readers: 0, timer: undefined, joined: 0, kept: false }
    this.#runs.set(runId, run)
    const forget = () => this.#forget(runId, run)
    result().then(forget, forget)
    return run
  }

  #forget(runId: string, run: Followed): void {
    this.#timers.clear(run.timer)
    if (this.#runs.get(runId) === run) this.#runs.delete(runId)
  }

  #leave(services: LeavingServices, runId: string, run: Followed): void {
    run.readers--
    if (run.readers > 0 || run.kept || this.#runs.get(runId) !== run) return
    run.timer = this.#timers.set(() => void this.#cancel(services, runId, run), graceMs)
    run.timer.unref()
  }

  /** Every joining has a number, which only one of them gets. */
  async #join({ bookmarks }: LeavingServices, runId: string, after: number): Promise<number> {
    let number = after + 1
    while (number < mostJoined && !(await bookmarks.add(joining(runId, number), true))) number++
    return number
  }

  async #cancel(services: LeavingServices, runId: string, run: Followed): Promise<void> {
    try {
      const later = await services.bookmarks.find(joining(runId, run.joined + 1))
      if (run.readers > 0) return
      this.#forget(runId, run)
      if (later === undefined) await services.runs.cancel(runId, 'client_disconnected')
    } catch (error) {
      this.#forget(runId, run)
      // It has ended, or is deleted, meanwhile.
      if (isAppError(error) && (error.code === 'conflict' || error.code === 'run_not_found')) return
      services.logger.error({ err: error, run_id: runId }, 'a run whose client left could not be cancelled')
    }
  }
}

function joining(runId: string, number: number): string {
  return `joined ${runId} ${number}`
}
