import { type Answer, ask } from './requests.ts'

const lookMs = 250
const patienceMs = 60_000

interface Target {
  readonly url: string
}

/** As a proxy in front of instances: round robin over those that say they are ready, and on to the next one after a Retry-After. */
export class Balancer {
  readonly #targets: readonly Target[]
  readonly #ready = new Set<Target>()
  readonly #timer: NodeJS.Timeout
  #looking: Promise<unknown> = Promise.resolve()
  #turn = 0
  /** How often an instance said that the request should come later. */
  later = 0

  constructor(targets: readonly Target[]) {
    this.#targets = targets
    for (const target of targets) this.#ready.add(target)
    this.#timer = setInterval(() => {
      this.#looking = Promise.all(targets.map((target) => this.#look(target)))
    }, lookMs)
  }

  get url(): string {
    const ready = this.#targets.filter((target) => this.#ready.has(target))
    const target = ready[this.#turn++ % Math.max(1, ready.length)]
    if (target === undefined) throw new Error('No instance is ready.')
    return target.url
  }

  /** The first answer that is no Retry-After. Throws when a connection fails: that is a failed request. */
  async ask(path: string, body?: unknown): Promise<Answer> {
    const fromMs = performance.now()
    for (;;) {
      const answer = await ask(this.url, path, body === undefined ? {} : { body })
      if (answer.status !== 503 || !answer.headers.has('retry-after')) return answer
      if (performance.now() - fromMs > patienceMs) throw new Error(`${path} is 503 for ${patienceMs / 1_000} s`)
      this.later++
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#looking
  }

  async #look(target: Target): Promise<void> {
    const ready = await fetch(`${target.url}/health/ready`, { signal: AbortSignal.timeout(2_000) }).then(
      ({ ok }) => ok,
      () => false,
    )
    if (ready) this.#ready.add(target)
    else this.#ready.delete(target)
  }
}
