import type { ProjectTests } from '../../api/route/settings.ts'
import type { UserConfig } from '../../config/types.ts'
import { disposeWithin } from '../../config/unsettled.ts'
import { AppError, invalid } from '../../core/error.ts'
import { headOf } from '../../sources/git/head.ts'
import type { KeptResult } from '../../testing/kept-runs.ts'
import type { ProjectTest, TestEvent, TestsToRun } from '../../wire/saved-test.ts'
import { playOne } from './play-one.ts'
import { describeTest, listNames } from './project-files.ts'

/** Each is a server of its own, in memory. */
const testsAtOnce = 2
type ResultEvent = Extract<TestEvent, { type: 'result' }>

/** A config as it is on disk. */
export interface ConfigOnDisk {
  user: UserConfig
  root: string
  file: string | undefined
}

/** The tests of a project. `load` reads its config anew; runs of tests are kept in the data folder. */
export function createProjectTests(
  root: string,
  dataFolder: string,
  load: (signal: AbortSignal) => Promise<ConfigOnDisk>,
): ProjectTests {
  let isRunning = false

  async function* run(wanted: TestsToRun, signal: AbortSignal): AsyncGenerator<TestEvent> {
    if (wanted.update && wanted.mode === 'scores') throw invalid('must be false with `scores`', 'update')
    if (isRunning) throw new AppError('conflict', 'Tests are running. Start the next when they have ended.')
    isRunning = true
    const leaving = new AbortController()
    const stopped = AbortSignal.any([signal, leaving.signal])
    const open = new Set<Promise<ResultEvent>>()
    try {
      const names = await choose(wanted.names)
      const [{ user, ...about }, head] = await Promise.all([load(stopped), headOf(root, stopped)])
      const { dispose, ...config } = user
      const results: KeptResult[] = []
      try {
        for (let next = 0; next < names.length || open.size > 0; ) {
          while (next < names.length && open.size < testsAtOnce) {
            const project = { config, base: about.root, root }
            open.add(playOne(project, names[next++] as string, wanted, stopped))
          }
          const result = await Promise.race([...open].map((one) => one.then((event) => ({ one, event }))))
          open.delete(result.one)
          stopped.throwIfAborted()
          results.push(toKept(result.event))
          yield result.event
        }
      } finally {
        leaving.abort()
        await Promise.allSettled(open)
        await disposeWithin(dispose, about.file)
      }
      const { keepRun } = await import('../../testing/kept-runs.ts')
      const { commit = null, changed = false } = head ?? {}
      await keepRun(dataFolder, { at: new Date().toISOString(), mode: wanted.mode, commit, changed, results })
      const passed = results.filter((result) => result.passed).length
      yield { type: 'end', passed, failed: names.length - passed }
    } finally {
      isRunning = false
    }
  }

  async function choose(names: readonly string[] | undefined): Promise<string[]> {
    const all = await listNames(root)
    const unknown = names?.find((name) => !all.includes(name))
    if (unknown !== undefined) throw invalid(`There is no test '${unknown.slice(0, 200)}'.`, 'names')
    return names === undefined ? all : all.filter((name) => names.includes(name))
  }

  return {
    async list() {
      const tests: ProjectTest[] = []
      for (const name of await listNames(root)) tests.push(await describeTest(root, name))
      return tests
    },
    async save(name, test) {
      const { writeTestFile, testFileEnd } = await import('../../testing/test-files.ts')
      await writeTestFile(root, `test/${name}${testFileEnd}`, test, 'Choose another name, or delete the file.')
      return { name: `test/${name}`, entity: test.entity, turns: test.turns.length, problem: null }
    },
    run,
    async runs() {
      const { readKeptRuns } = await import('../../testing/kept-runs.ts')
      return readKeptRuns(dataFolder)
    },
  }
}

function toKept(event: ResultEvent): KeptResult {
  const { name, passed, flaky, passes, times, score, score_by_scorer, usage, cost, duration_ms } = event
  return { name, passed, flaky, passes, times, score, score_by_scorer, usage, cost, duration_ms }
}
