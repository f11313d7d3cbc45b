import { setTimeout as sleep } from 'node:timers/promises'
import type { Instance } from '../../test/support/cluster/instances.ts'
import { type Answer, ask } from '../../test/support/cluster/requests.ts'
import { pick, type Random } from './random.ts'
import type { Told } from './told.ts'

/** By then a client gets an answer, whatever goes wrong. */
const patienceMs = 75_000
const answerMs = 4_000
const pauseMs = 150

export interface Request {
  path: string
  /** Undefined: GET. */
  body?: unknown
  method?: string
  headers?: object
  /** A conflict that names its run is an answer. */
  mayJoin?: boolean
}

/** A client behind something that picks an instance: it asks another one when it gets no answer, or is told to ask later. */
export class Balanced {
  readonly random: Random
  readonly told: Told
  readonly #instances: readonly Instance[]

  constructor(instances: readonly Instance[], random: Random, told: Told) {
    this.#instances = instances
    this.random = random
    this.told = told
  }

  get url(): string {
    return this.#instance.url
  }

  get #instance(): Instance {
    return pick(this.random, this.#instances)
  }

  /**
   * The first answer that is one. `isUncertain` hears that a request may have been done without an answer. Undefined: none
   * came in time, which is a violation.
   */
  async ask(what: string, request: Request, isUncertain = () => {}): Promise<Answer | undefined> {
    const fromMs = performance.now()
    const { told } = this
    for (let again = 0; !told.over && performance.now() - fromMs < patienceMs; again++) {
      if (again > 0) {
        told.repeats++
        await sleep(pauseMs)
      }
      const { answer, excuses } = await this.#once(request)
      const outcome = outcomeOf(answer, excuses, request.mayJoin)
      told.count(`${what}: ${outcome}`)
      if (answer === undefined || outcome === 'again') isUncertain()
      if (answer === undefined || outcome === 'again') continue
      told.slowestMs = Math.max(told.slowestMs, performance.now() - fromMs)
      return answer
    }
    told.wrong(`${what} ${request.path} got no answer in ${patienceMs / 1_000} s: ${JSON.stringify(request.body)}`)
    return undefined
  }

  async #once({ path, mayJoin: _, ...options }: Request): Promise<{ answer: Answer | undefined; excuses: Excuses }> {
    const { url } = this.#instance
    const fromMs = performance.now()
    const signal = AbortSignal.timeout(answerMs)
    const answer = await ask(url, path, { ...options, signal }).catch(() => undefined)
    const toMs = performance.now()
    return { answer, excuses: { isDiskFull: this.told.troubles.isDiskFull(fromMs, toMs) } }
  }
}

/** The faults that were on while a request was under way. */
export interface Excuses {
  isDiskFull: boolean
}

/** `again`: it says so itself. Anything that no fault explains is an answer, for the one that asked to judge. */
export function outcomeOf(
  answer: Pick<Answer, 'status' | 'body' | 'headers'> | undefined,
  { isDiskFull }: Excuses,
  mayJoin = false,
): string {
  if (answer === undefined) return 'none'
  const { status, body, headers } = answer
  const code = body?.error?.code
  if (mayJoin && status === 409 && body?.error?.run_id !== undefined) return 'joined'
  const mayRetry = headers.has('retry-after') && [409, 429, 503].includes(status)
  // A process takes for late what came while it, the connection or the machine stood still, and has not begun with it.
  if ((status === 507 && isDiskFull) || status === 408) return 'again'
  // JSON-RPC has no other word for all of this, nor for what went wrong inside: only that has this text.
  if (mayRetry || (code === -32603 && body.error.message !== 'internal error')) return 'again'
  return code === undefined ? `${status}` : `${status} ${code}`
}
