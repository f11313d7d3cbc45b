import type {
  KeptTestRuns,
  ProjectTest,
  ProjectTestList,
  RunTestsRequest,
  SaveTestRequest,
  TestEvent,
} from '../wire/saved-test.ts'
import type { CallOptions, Connection } from './transport/connection.ts'
import { toStreamedError } from './transport/error.ts'
import { readEvents } from './transport/stream.ts'

export type TestResult = Exclude<TestEvent, { type: 'error' }>

/** The saved tests of a project that `agentserve dev` serves; elsewhere these calls fail with `not_found`. For operators. */
export interface TestsClient {
  list(options?: CallOptions): Promise<ProjectTestList>
  /** The last 100 runs of tests, newest first. */
  runs(options?: CallOptions): Promise<KeptTestRuns>
  /** Writes `test/<name>.session.json`. Throws `conflict` if it is there. */
  save(test: SaveTestRequest, options?: CallOptions): Promise<ProjectTest>
  /**
   * Runs all tests, or those in `names`: a `result` for each, then `end`. Leaving the loop stops them. Throws `conflict` while
   * others are running. With `mode: 'scores'` the models of the config are asked, which may cost money.
   */
  run(tests?: RunTestsRequest, options?: CallOptions): Promise<AsyncIterableIterator<TestResult>>
}

export function createTestsClient(connection: Connection, prefix: string): TestsClient {
  const path = `${prefix}/dev/tests`
  return {
    list: (options) => connection.get(path, options),
    save: (test, options) => connection.post(path, test, 'never', options),
    runs: (options) => connection.get(`${path}/runs`, options),
    async run(tests = {}, options) {
      const answer = await connection.open({
        ...options,
        method: 'POST',
        path: `${path}/run`,
        body: tests,
        repeat: 'never',
        long: true,
      })
      return resultsOf(readEvents(answer, connection))
    },
  }
}

async function* resultsOf(stream: ReturnType<typeof readEvents<TestEvent>>): AsyncGenerator<TestResult, void, void> {
  for await (const { event } of stream) {
    if (event.type === 'error') throw toStreamedError(event.error)
    yield event
    if (event.type === 'end') return
  }
}
