import type { UserConfig } from '../config/types.ts'
import { textOf } from '../core/message.ts'
import { addUsage, type Cost, type Usage } from '../core/run.ts'
import type { AnswerToScore, Scorer } from '../core/scoring/scorer.ts'
import type { GivenScorers, SavedTest } from './saved-test.ts'
import { scoreTurn, type TurnScore } from './scores.ts'
import { type PlayedTurnResult, type PlayOptions, playTurns } from './turns.ts'

/** A saved conversation whose answers of now were scored. */
export interface ScoredTest {
  /** Every score passes, and every turn went as far as then. */
  passed: boolean
  scores: TurnScore[]
  /** Why the conversation stopped, or has no scores. */
  problem: string | null
  /** Calls of tools that the record does not have: they failed. */
  notes: string[]
  /** Of the answers. */
  usage: Usage | null
  /** Of the models that judged. */
  judge_usage: Usage | null
  /** Of the answers; null when the price of a part is not known. */
  cost: Cost | null
}

/**
 * Asks the questions of a saved conversation and scores each answer. Models are the config's own, unless `models` is `recorded`; tools give
 * their recorded results, unless `tools` is `live`.
 */
export async function scoreSavedTest(config: UserConfig, saved: SavedTest, options: PlayOptions): Promise<ScoredTest> {
  const { root, signal = new AbortController().signal, models = 'live' } = options
  const scored: ScoredTest = {
    passed: true,
    scores: [],
    problem: null,
    notes: [],
    usage: null,
    judge_usage: null,
    cost: null,
  }
  const isScored = saved.turns.some(
    ({ scorers }) => Object.keys(scorersOf(config.scorers, saved.scorers, scorers)).length > 0,
  )
  if (!isScored) return { ...scored, passed: false, problem: noScorers }
  for await (const played of playTurns(config, saved, { ...options, models, signal })) {
    const { place, turn, result, unanswered } = played
    const scorers = scorersOf(config.scorers, saved.scorers, turn.scorers)
    scored.usage = result.usage === null ? scored.usage : addUsage(scored.usage, result.usage)
    scored.cost = place === 1 ? result.cost : add(scored.cost, result.cost)
    scored.notes.push(...unrecorded(played))
    const { scores, usage } = await scoreTurn(place, toAnswer(played), scorers, { root, model: config.model, signal })
    scored.scores.push(...scores)
    scored.judge_usage = usage === null ? scored.judge_usage : addUsage(scored.judge_usage, usage)
    if (unanswered !== undefined) {
      scored.problem = `turn ${place}: the run waits for something else than in the saved conversation`
      break
    }
  }
  scored.passed = scored.problem === null && scored.scores.every(({ passed }) => passed)
  return scored
}

function add(sum: Cost | null, cost: Cost | null): Cost | null {
  return sum === null || cost === null ? null : { ...cost, usd: sum.usd + cost.usd }
}

const noScorers = 'There is no scorer: add `scorers` to the config, or to the file of the test.'

/** Those of the config, the test and the turn; a later one of the same name counts, and `false` takes one away. */
function scorersOf(...given: (GivenScorers | Readonly<Record<string, Scorer>> | undefined)[]): Record<string, Scorer> {
  const all: Record<string, Scorer | false> = Object.assign(Object.create(null), ...given)
  return Object.fromEntries(Object.entries(all).filter((entry): entry is [string, Scorer] => entry[1] !== false))
}

function toAnswer({ turn, result }: PlayedTurnResult): AnswerToScore {
  const { status, text, data, cited, tool_calls } = result
  const { content, data: expectedData } = turn.expect
  return {
    input: textOf(turn.input),
    status,
    text,
    data,
    cited,
    tool_calls,
    expected: { content, ...(expectedData && { data: expectedData }) },
  }
}

function unrecorded({ place, player }: PlayedTurnResult): string[] {
  return player.unrecorded.map((name) => `turn ${place}: '${name}' was called with an input that is not recorded`)
}
