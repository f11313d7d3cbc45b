import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { ProjectTests } from '../api/route/settings.ts'
import type { UserConfig } from '../config/types.ts'
import { disposeWithin } from '../config/unsettled.ts'
import { AppError, invalid, toAppError } from '../core/error.ts'
import type { RunEvent } from '../core/event.ts'
import { shownBytes } from '../core/limits.ts'
import { isTurn, type Run } from '../core/run.ts'
import type { Services } from '../service/services.ts'
import type { RunToSave, SavedTest } from '../testing/saved-test.ts'
import type { ProjectTest, TestEvent } from '../wire/saved-test.ts'

const maxTurns = 1000
const maxFileBytes = 32 * 1024 * 1024
/** Each is a server of its own, in memory. */
const testsAtOnce = 2

/** A session as a test, read with the rights of a caller. Holds the record of one turn at a time. */
export async function savedTestOf(services: Services, sessionId: string): Promise<SavedTest> {
  const { entityOf, toTurn } = await import('../testing/saved-test.ts')
  await services.sessions.get(sessionId)
  const runs = await turnsOf(services, sessionId)
  const entity = entityOf(runs)
  const turns: SavedTest['turns'] = []
  let bytes = 0
  for (const { run_id: runId } of runs) {
    const turn = toTurn(await readRun(services, runId))
    bytes += Buffer.byteLength(JSON.stringify(turn))
    if (bytes > maxFileBytes) {
      const most = shownBytes(maxFileBytes)
      throw new AppError(
        'invalid_request',
        `The session's record has more than ${most}, the most that a test can have.`,
      )
    }
    turns.push(turn)
  }
  return { agentserve: 'session-test/1', entity, tools: 'recorded', turns }
}

/** The turns of the conversation, oldest first. */
async function turnsOf(services: Services, sessionId: string): Promise<Run[]> {
  const turns: Run[] = []
  for (let cursor: string | undefined; ; ) {
    const page = await services.runs.list({ session_id: sessionId }, { limit: 100, cursor })
    turns.push(...page.items.filter((run) => isTurn(run) && run.replaced_by === null))
    if (turns.length > maxTurns) {
      throw new AppError(
        'invalid_request',
        `The session has more than ${maxTurns} turns, the most that a test can have.`,
      )
    }
    if (page.next === null) return turns.toReversed()
    cursor = page.next
  }
}

async function readRun(services: Services, runId: string): Promise<RunToSave> {
  const run = await services.runs.get(runId)
  const events: RunEvent[] = []
  const members: RunToSave[] = []
  // Its events would go on until its end; `toTurn` refuses it.
  if (run.status === 'queued' || run.status === 'running') return { run, events, members }
  const recorded = await services.runs.events(runId, 0)
  for await (const batch of services.runs.withPrompts(runId, recorded)) events.push(...batch)
  for (const event of events) {
    if (event.type === 'step_start' && event.child_run_id !== undefined) {
      members.push(await readRun(services, event.child_run_id))
    }
  }
  return { run, events, members }
}

/** A config as it is on disk. */
export interface ConfigOnDisk {
  user: UserConfig
  root: string
  file: string | undefined
}

/** The tests of a project. `load` reads its config anew. */
export function createProjectTests(root: string, load: (signal: AbortSignal) => Promise<ConfigOnDisk>): ProjectTests {
  let isRunning = false

  async function* run(names: readonly string[] | undefined, signal: AbortSignal): AsyncGenerator<TestEvent> {
    if (isRunning) throw new AppError('conflict', 'Tests are running. Start the next when they have ended.')
    isRunning = true
    const leaving = new AbortController()
    const stopped = AbortSignal.any([signal, leaving.signal])
    const open = new Set<Promise<ResultEvent>>()
    try {
      const wanted = await choose(names)
      const { user, ...about } = await load(stopped)
      const { dispose, ...config } = user
      let passed = 0
      try {
        for (let next = 0; next < wanted.length || open.size > 0; ) {
          while (next < wanted.length && open.size < testsAtOnce) {
            open.add(playOne(config, about.root, wanted[next++] as string, stopped))
          }
          const result = await Promise.race([...open].map((one) => one.then((event) => ({ one, event }))))
          open.delete(result.one)
          stopped.throwIfAborted()
          if (result.event.passed) passed++
          yield result.event
        }
      } finally {
        leaving.abort()
        await Promise.allSettled(open)
        await disposeWithin(dispose, about.file)
      }
      yield { type: 'end', passed, failed: wanted.length - passed }
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

  async function playOne(config: UserConfig, base: string, name: string, signal: AbortSignal): Promise<ResultEvent> {
    const { playSavedTest } = await import('../testing/play.ts')
    const startedMs = performance.now()
    const told: Omit<ResultEvent, 'duration_ms'> = {
      type: 'result',
      name,
      passed: false,
      differences: [],
      notes: [],
      problem: null,
      usage: null,
    }
    const duration = () => Math.round(performance.now() - startedMs)
    try {
      const { passed, differences, notes, usage } = await playSavedTest(config, await readTest(root, name), {
        root: base,
        signal,
      })
      return { ...told, passed, differences, notes, usage, duration_ms: duration() }
    } catch (error) {
      return { ...told, problem: toAppError(error).message, duration_ms: duration() }
    }
  }

  return {
    async list() {
      const tests: ProjectTest[] = []
      for (const name of await listNames(root)) tests.push(await describe(root, name))
      return tests
    },
    async save(name, test) {
      const { writeTestFile, testFileEnd } = await import('../testing/test-files.ts')
      await writeTestFile(root, `test/${name}${testFileEnd}`, test, 'Choose another name, or delete the file.')
      return { name: `test/${name}`, entity: test.entity, turns: test.turns.length, problem: null }
    },
    run,
  }
}

type ResultEvent = Extract<TestEvent, { type: 'result' }>

async function listNames(root: string): Promise<string[]> {
  const { findTestFiles, testFileEnd } = await import('../testing/test-files.ts')
  return (await findTestFiles(root)).map((file) => file.slice(0, -testFileEnd.length))
}

async function describe(root: string, name: string): Promise<ProjectTest> {
  try {
    const { entity, turns } = await readTest(root, name)
    return { name, entity, turns: turns.length, problem: null }
  } catch (error) {
    return { name, entity: null, turns: null, problem: toAppError(error).message }
  }
}

async function readTest(root: string, name: string): Promise<SavedTest> {
  const [{ parseSavedTest }, { testFileEnd }] = await Promise.all([
    import('../testing/saved-test.ts'),
    import('../testing/test-files.ts'),
  ])
  const file = `${name}${testFileEnd}`
  const text = await readBounded(join(root, file)).catch((cause: unknown) => {
    if (cause instanceof AppError) throw cause
    throw new AppError('invalid_request', `${file} can't be read.`, { cause })
  })
  return parseSavedTest(text, file)
}

async function readBounded(path: string): Promise<string> {
  const { size } = await stat(path)
  if (size > maxFileBytes) {
    throw new AppError('invalid_request', `The file has ${shownBytes(size)}, more than ${shownBytes(maxFileBytes)}.`)
  }
  return readFile(path, 'utf8')
}
