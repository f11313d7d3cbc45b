import { appendFile, mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fullDisk, isDiskFull, replaceFile } from '../runtime/whole-file.ts'
import type { TestMode, TestOutcome } from './play-test.ts'

/** One run of a project's tests, as it is kept to be compared with. */
export interface KeptTestRun {
  at: string
  mode: TestMode
  /** Of the project's repository; null without one. */
  commit: string | null
  /** Whether files differed from that commit. */
  changed: boolean
  results: KeptResult[]
}

export interface KeptResult
  extends Pick<
    TestOutcome,
    'passed' | 'flaky' | 'passes' | 'times' | 'score' | 'score_by_scorer' | 'usage' | 'cost' | 'duration_ms'
  > {
  /** The test's path in the project, without `.session.json`. */
  name: string
}

export const mostKeptRuns = 100
const fileName = 'test-runs.jsonl'

/** The kept runs of a data folder, newest first. A line that was cut off by a crash is left out. */
export async function readKeptRuns(dataFolder: string): Promise<KeptTestRun[]> {
  return (await readLines(join(dataFolder, fileName))).flatMap(parse).toReversed()
}

/** Adds a run; the oldest beyond `mostKeptRuns` go. Throws `storage_full`. */
export async function keepRun(dataFolder: string, run: KeptTestRun): Promise<void> {
  try {
    await addRun(dataFolder, run)
  } catch (error) {
    throw isDiskFull(error) ? fullDisk(dataFolder, error) : error
  }
}

async function addRun(dataFolder: string, run: KeptTestRun): Promise<void> {
  const file = join(dataFolder, fileName)
  await mkdir(dataFolder, { recursive: true, mode: 0o700 })
  const lines = await readLines(file)
  if (lines.length < mostKeptRuns) {
    // After a line that was cut off, a new one begins.
    await appendFile(
      file,
      `${lines.length > 0 && parse(lines.at(-1) as string).length === 0 ? '\n' : ''}${JSON.stringify(run)}\n`,
      { mode: 0o600 },
    )
    return
  }
  const kept = lines.filter((line) => parse(line).length > 0).slice(1 - mostKeptRuns)
  await replaceFile(file, `${[...kept, JSON.stringify(run)].join('\n')}\n`)
}

/** What is kept of an outcome. */
export function toKeptResult(name: string, outcome: TestOutcome): KeptResult {
  const { passed, flaky, passes, times, score, score_by_scorer, usage, cost, duration_ms } = outcome
  return { name, passed, flaky, passes, times, score, score_by_scorer, usage, cost, duration_ms }
}

async function readLines(file: string): Promise<string[]> {
  try {
    return (await readFile(file, 'utf8')).split('\n').filter((line) => line !== '')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

function parse(line: string): KeptTestRun[] {
  try {
    const run = JSON.parse(line) as Partial<KeptTestRun> | null
    return Array.isArray(run?.results) && typeof run.at === 'string' ? [run as KeptTestRun] : []
  } catch {
    return []
  }
}
