import type { UserConfig } from '../config/types.ts'
import { addUsage, type Cost, type Usage } from '../core/run.ts'
import { type Difference, playSavedTest } from './play.ts'
import type { SavedTest } from './saved-test.ts'
import { scoreSavedTest } from './score-test.ts'
import type { TurnScore } from './scores.ts'
import type { PlayOptions } from './turns.ts'

/** `replay`: the answers must be those of then. `scores`: each answer is scored. */
export type TestMode = 'replay' | 'scores'

/** What came of a saved test that was played once or several times. */
export interface TestOutcome {
  /** Each time. */
  passed: boolean
  /** Passed some of the times. */
  flaky: boolean
  passes: number
  times: number
  /** Of the first time that did not pass; else of the first time. */
  differences: Difference[]
  notes: string[]
  scores: TurnScore[]
  problem: string | null
  /** The mean of all scores of all times, 0 for a scorer that failed; null without scores. */
  score: number | null
  /** The mean of each scorer. */
  score_by_scorer: Record<string, number>
  /** Of the answers, summed over all times. */
  usage: Usage | null
  /** Of the models that judged. */
  judge_usage: Usage | null
  /** Of the answers; null when a price is not known, as for replayed ones. */
  cost: Cost | null
  duration_ms: number
  /** The test as it would be saved now; only of a replay. */
  updated: SavedTest | undefined
}

interface OneTime
  extends Pick<
    TestOutcome,
    'passed' | 'differences' | 'notes' | 'scores' | 'problem' | 'usage' | 'judge_usage' | 'cost'
  > {
  updated?: SavedTest
}

/** Plays a saved test as often as asked, one time after the other. */
export async function playTest(
  config: UserConfig,
  saved: SavedTest,
  { mode, times = 1, ...options }: PlayOptions & { mode: TestMode; times?: number },
): Promise<TestOutcome> {
  const startedMs = performance.now()
  const all: OneTime[] = []
  for (let time = 0; time < times; time++) all.push(await playOnce(config, saved, mode, options))
  const passes = all.filter(({ passed }) => passed).length
  const shown = all.find(({ passed }) => !passed) ?? (all[0] as OneTime)
  const { differences, notes, scores, problem } = shown
  const given = all.flatMap((one) => one.scores)
  return {
    passed: passes === times,
    flaky: passes > 0 && passes < times,
    passes,
    times,
    differences,
    notes,
    scores,
    problem,
    score: meanOf(given),
    score_by_scorer: meansOf(given),
    usage: sumOf(all.map(({ usage }) => usage)),
    judge_usage: sumOf(all.map(({ judge_usage }) => judge_usage)),
    cost: costOf(all),
    duration_ms: Math.round(performance.now() - startedMs),
    updated: shown.updated,
  }
}

async function playOnce(config: UserConfig, saved: SavedTest, mode: TestMode, options: PlayOptions): Promise<OneTime> {
  if (mode === 'scores') return { ...(await scoreSavedTest(config, saved, options)), differences: [] }
  const played = await playSavedTest(config, saved, options)
  return { ...played, scores: [], problem: null, judge_usage: null, cost: null }
}

function meanOf(scores: readonly TurnScore[]): number | null {
  if (scores.length === 0) return null
  return round(scores.reduce((sum, { score }) => sum + (score ?? 0), 0) / scores.length)
}

function meansOf(scores: readonly TurnScore[]): Record<string, number> {
  const byScorer = Map.groupBy(scores, ({ scorer }) => scorer)
  return Object.fromEntries([...byScorer].map(([scorer, its]) => [scorer, meanOf(its) ?? 0]))
}

function round(score: number): number {
  return Math.round(score * 1000) / 1000
}

function sumOf(usages: readonly (Usage | null)[]): Usage | null {
  return usages.reduce((sum, usage) => (usage === null ? sum : addUsage(sum, usage)), null)
}

function costOf(all: readonly OneTime[]): Cost | null {
  const [first] = all
  if (first?.cost == null || all.some(({ cost }) => cost === null)) return null
  return { ...first.cost, usd: all.reduce((sum, { cost }) => sum + (cost?.usd ?? 0), 0) }
}
