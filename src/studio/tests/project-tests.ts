import { signal } from '@preact/signals'
import type { PageClient } from '../../client/page.ts'
import type { TestsClient } from '../../client/tests.ts'
import type { KeptTestRuns, ProjectTest, RunTestsRequest, TestEvent } from '../../wire/saved-test.ts'
import { messageOf } from '../state/server/message-of.ts'

export type KeptRun = KeptTestRuns['runs'][number]
export type KeptResult = KeptRun['results'][number]
export type TestResult = Extract<TestEvent, { type: 'result' }>

/** What a run that is under way, or was the last one of this page, has told so far. */
export interface TestRun {
  mode: KeptRun['mode']
  /** How many tests it plays. */
  count: number
  of: ReadonlyMap<string, TestResult>
  state: 'running' | 'ended' | 'stopped' | 'failed'
}

/** Earlier runs beside the one of now. */
const mostKept = 5
/** Results may come by the thousand; the grid is drawn anew for all that came in this time. */
const drawMs = 100

/** The saved tests of the project, what their last runs came to, and the run that is under way. It goes on while another page is shown. */
export class ProjectTests {
  readonly tests = signal<readonly ProjectTest[] | undefined>(undefined)
  /** Newest first, without the one of now. */
  readonly kept = signal<readonly (KeptRun & { of: ReadonlyMap<string, KeptResult> })[]>([])
  readonly now = signal<TestRun | undefined>(undefined)
  readonly error = signal('')
  readonly #client: TestsClient
  #running: AbortController | undefined

  constructor(client: TestsClient) {
    this.#client = client
  }

  /** The run of now, and those before it. */
  get columns(): readonly { mode: KeptRun['mode']; of: ReadonlyMap<string, KeptResult> }[] {
    const now = this.now.value
    return now === undefined ? this.kept.value : [now, ...this.kept.value]
  }

  get isRunning(): boolean {
    return this.now.value?.state === 'running'
  }

  async read(): Promise<void> {
    try {
      await Promise.all([this.#readTests(), this.now.value === undefined ? this.#readKept() : undefined])
      this.error.value = ''
    } catch (error) {
      this.error.value = messageOf(error)
    }
  }

  /** Those in `names`. Resolves when they have ended or were stopped; a failure is told in `error`. */
  async run(names: readonly string[], how: Omit<RunTestsRequest, 'names'>): Promise<void> {
    if (this.isRunning) return
    const running = new AbortController()
    this.#running = running
    const results = new Map<string, TestResult>()
    const before = this.now.value
    const tell = (state: TestRun['state']) => {
      this.now.value = { mode: how.mode ?? 'replay', count: names.length, of: new Map(results), state }
    }
    this.error.value = ''
    tell('running')
    try {
      // The run before this one is among them now.
      await this.#readKept()
      const { signal } = running
      const events = await this.#client.run({ ...how, names: [...names] }, { signal })
      let drawnAt = 0
      for await (const event of events) {
        if (event.type === 'result') results.set(event.name, event)
        if (performance.now() - drawnAt < drawMs) continue
        tell('running')
        drawnAt = performance.now()
      }
      tell('ended')
      await this.#readTests()
    } catch (error) {
      if (running.signal.aborted) tell('stopped')
      else {
        // Nothing of it was played: what was there before stays.
        if (results.size === 0) this.now.value = before
        else tell('failed')
        this.error.value = messageOf(error)
      }
    }
  }

  stop(): void {
    this.#running?.abort()
  }

  async #readTests(): Promise<void> {
    this.tests.value = (await this.#client.list()).tests
  }

  async #readKept(): Promise<void> {
    const { runs } = await this.#client.runs()
    this.kept.value = runs
      .slice(0, mostKept)
      .map((run) => ({ ...run, of: new Map(run.results.map((result) => [result.name, result])) }))
  }
}

const ofClients = new WeakMap<PageClient, ProjectTests>()

/** The same ones as long as the page has the same key. */
export function testsOf(client: PageClient): ProjectTests {
  const known = ofClients.get(client) ?? new ProjectTests(client.tests)
  ofClients.set(client, known)
  return known
}
