import type { UserConfig } from '../../config/types.ts'
import { toAppError } from '../../core/error.ts'
import type { TestEvent, TestsToRun } from '../../wire/saved-test.ts'
import { readTest } from './project-files.ts'

type ResultEvent = Extract<TestEvent, { type: 'result' }>

interface Project {
  config: UserConfig
  /** Of relative paths in the config. */
  base: string
  /** Of the tests. */
  root: string
}

/** Plays one test of a project. What keeps it from being played is its `problem`. */
export async function playOne(
  { config, base, root }: Project,
  name: string,
  { mode, times, update }: TestsToRun,
  signal: AbortSignal,
): Promise<ResultEvent> {
  const { playTest } = await import('../../testing/play-test.ts')
  const startedMs = performance.now()
  try {
    const saved = await readTest(root, name)
    const { updated, ...outcome } = await playTest(config, saved, { mode, times, root: base, signal })
    const accepted = update && updated !== undefined && !outcome.passed && !outcome.flaky
    if (accepted) {
      const { testFileEnd, updateTestFile } = await import('../../testing/test-files.ts')
      await updateTestFile(root, `${name}${testFileEnd}`, updated)
    }
    return { type: 'result', name, updated: accepted, ...outcome }
  } catch (error) {
    const duration_ms = Math.round(performance.now() - startedMs)
    return { type: 'result', name, ...notPlayed, times, problem: toAppError(error).message, duration_ms }
  }
}

const notPlayed = {
  passed: false,
  updated: false,
  flaky: false,
  passes: 0,
  differences: [],
  notes: [],
  scores: [],
  score: null,
  score_by_scorer: {},
  usage: null,
  judge_usage: null,
  cost: null,
} satisfies Partial<ResultEvent>
