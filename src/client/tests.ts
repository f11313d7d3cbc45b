import type { ProjectTest, ProjectTestList, SaveTestRequest, TestEvent } from '../wire/saved-test.ts'
import type { CallOptions, Connection } from './transport/connection.ts'
import { toStreamedError } from './transport/error.ts'
import { parseEvent, readStream } from './transport/stream.ts'

export type TestResult = Exclude<TestEvent, { type: 'error' }>

/** The saved tests of a project that `agentserve dev` serves; elsewhere these calls fail with `not_found`. For operators. */
export interface TestsClient {
  list(options?: CallOptions): Promise<ProjectTestList>
  /** Writes `test/<name>.session.json`. Throws `conflict` if it is there. */
  save(test: SaveTestRequest, options?: CallOptions): Promise<ProjectTest>
  /**
   * Runs all tests, or those with these names: a `result` for each, then `end`. Leaving the loop stops them. Throws `conflict`
   * while others are running.
   */
  run(names?: readonly string[], options?: CallOptions): Promise<AsyncIterableIterator<TestResult>>
}

export function createTestsClient(connection: Connection, prefix: string, silenceMs: number): TestsClient {
  const path = `${prefix}/dev/tests`
  return {
    list: (options) => connection.get(path, options),
    save: (test, options) => connection.post(path, test, 'never', options),
    async run(names, options) {
      const answer = await connection.open({
        ...options,
        method: 'POST',
        path: `${path}/run`,
        body: names === undefined ? {} : { names },
        repeat: 'never',
        long: true,
      })
      return resultsOf(readStream(answer, silenceMs, connection.name), connection.name)
    },
  }
}

async function* resultsOf(messages: ReturnType<typeof readStream>, name: string): AsyncGenerator<TestResult> {
  for await (const message of messages) {
    const event = parseEvent<TestEvent>(message, name)
    if (event.type === 'error') throw toStreamedError(event.error)
    yield event
    if (event.type === 'end') return
  }
}
