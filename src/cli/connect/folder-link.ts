import { isUndelivered, toNetworkError } from '../../client/transport/network-error.ts'
import type { ClientResponse, Transport } from '../../client/transport/transport.ts'
import { leavingHeader } from '../../core/access/server-proof.ts'
import { AppError } from '../../core/error.ts'
import { abortable, pause } from '../../runtime/abort.ts'
import { addressed, type CloseOptions, type Target } from './target.ts'

/** Finds the target. `leaving`: the one before, which answers no more although it still runs. */
export type Establish = (leaving: Target | undefined) => Promise<Target>

const leavingName = leavingHeader.toLowerCase()
/** A server that asked for the folder is quicker. */
const waitMs = 150

/**
 * Requests to the server of a data folder, whoever that is. When it is gone, the next request finds the next owner, or makes this
 * process the owner. Requests that no server has taken are sent again; others fail as `unavailable`.
 */
export class FolderLink {
  readonly #establish: Establish
  #target: Promise<Target> | undefined
  #current: Target | undefined
  /** Why there is no target now. */
  #left: { target: Target; isLeaving: boolean } | undefined
  /** Other processes to which no more requests are sent; their streams may still be read. */
  readonly #former: Target[] = []
  /** Own servers that are being closed. */
  #closing: Promise<void> = Promise.resolve()
  #isClosed = false
  /** The runs that this command has started. */
  readonly #started = new Set<string>()

  constructor(establish: Establish) {
    this.#establish = establish
  }

  get current(): Target | undefined {
    return this.#current
  }

  open(): Promise<Target> {
    return this.#reach()
  }

  readonly send: Transport = async (request) => {
    for (;;) {
      const target = await abortable(this.#reach(), request.signal)
      let answer: ClientResponse
      try {
        answer = await target.send(addressed(request, target))
      } catch (error) {
        request.signal.throwIfAborted()
        const known = toNetworkError(error, target.name)
        if (target.own === undefined && known.code === 'unavailable') this.#leave(target, false)
        if (target.own === undefined && isUndelivered(known)) continue
        throw known
      }
      const { [leavingName]: leaves, 'x-run-id': runId } = answer.headers
      if (leaves === undefined) {
        if (runId !== undefined && request.method === 'POST') this.#started.add(runId)
        return answer
      }
      // Read, so that its connection can close.
      for await (const _ of answer.body);
      this.#leave(target, true)
    }
  }

  /** Lets go of the data folder, once no run is under way there: the next request finds its next owner. */
  async release(patienceMs: number): Promise<void> {
    const target = this.#current
    const server = target?.own?.server
    const end = performance.now() + patienceMs
    while (server !== undefined && server.underWay().run_ids.length > 0) {
      if (performance.now() >= end || this.#isClosed) return
      await pause(50)
    }
    if (target !== undefined && server !== undefined && !this.#isClosed) this.#leave(target, false)
  }

  async close(options: CloseOptions = {}): Promise<void> {
    this.#isClosed = true
    const target = await this.#target?.catch(() => undefined)
    this.#target = undefined
    await target?.close({ ...options, started: this.#started })
    await Promise.all([this.#closing, ...this.#former.map((former) => former.close())])
  }

  #reach(): Promise<Target> {
    if (this.#isClosed) throw new AppError('unavailable', 'The connection is closed.')
    if (this.#target !== undefined) return this.#target
    const next = this.#next()
    this.#target = next
    // The next request tries again.
    next.catch(() => {
      if (this.#target === next) this.#target = undefined
    })
    return next
  }

  async #next(): Promise<Target> {
    await this.#closing
    if (this.#left !== undefined) await pause(waitMs)
    const target = await this.#establish(this.#left?.isLeaving === true ? this.#left.target : undefined)
    this.#left = undefined
    this.#current = target
    return target
  }

  #leave(target: Target, isLeaving: boolean): void {
    if (this.#current !== target) return
    this.#target = undefined
    this.#current = undefined
    this.#left = { target, isLeaving }
    if (target.own === undefined) {
      this.#former.push(target)
      return
    }
    this.#closing = Promise.all([this.#closing, target.close({ started: this.#started })]).then(() => {})
    // The next request gets the error.
    this.#closing.catch(() => {})
  }
}
