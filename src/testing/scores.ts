import type { ModelChoice } from '../core/model.ts'
import { addUsage, type Usage } from '../core/run.ts'
import {
  type AnswerToScore,
  functionPassAt,
  kindOf,
  type Scored,
  type Scorer,
  usualPassAt,
} from '../core/scoring/scorer.ts'
import { scoreDeclared } from './declared-scores.ts'
import { judgeAnswer } from './judge.ts'

/** What one scorer says of one turn. */
export interface TurnScore {
  /** From 1. */
  turn: number
  scorer: string
  /** From 0 to 1; null when the scorer failed. */
  score: number | null
  passed: boolean
  reason?: string
  /** Why the scorer gave no score. */
  problem?: string
}

export interface ScoringContext {
  root: string
  /** The config's, for judges without one. */
  model: ModelChoice | undefined
  signal: AbortSignal
}

/** Asks every scorer about one turn. A scorer that fails does not keep the others from theirs. */
export async function scoreTurn(
  turn: number,
  answer: AnswerToScore,
  scorers: Readonly<Record<string, Scorer>>,
  context: ScoringContext,
): Promise<{ scores: TurnScore[]; usage: Usage | null }> {
  let usage: Usage | null = null
  const scores: TurnScore[] = []
  for (const [name, scorer] of Object.entries(scorers)) {
    try {
      const { score, reason, usage: used } = checked(await ask(scorer, answer, context))
      if (used) usage = addUsage(usage, used)
      scores.push({ turn, scorer: name, score, passed: score >= passAtOf(scorer), ...(reason && { reason }) })
    } catch (error) {
      context.signal.throwIfAborted()
      const problem = error instanceof Error ? error.message : String(error)
      scores.push({ turn, scorer: name, score: null, passed: false, problem })
    }
  }
  return { scores, usage }
}

type Given = Scored & { usage?: Usage | null }

async function ask(scorer: Scorer, answer: AnswerToScore, { root, model, signal }: ScoringContext): Promise<Given> {
  if (typeof scorer !== 'function') {
    if (!('judge' in scorer)) return scoreDeclared(scorer, answer)
    return judgeAnswer(scorer.judge, scorer.model ?? model, answer, { root, signal })
  }
  const given = await scorer(answer, { signal })
  if (typeof given === 'object' && given !== null) return given
  return { score: typeof given === 'boolean' ? Number(given) : given }
}

function checked(given: Given): Given {
  const { score } = given
  if (typeof score === 'number' && score >= 0 && score <= 1) return given
  throw new TypeError(`A score must be a number from 0 to 1, true or false, not ${String(score)}.`)
}

function passAtOf(scorer: Scorer): number {
  return typeof scorer === 'function' ? functionPassAt : (scorer.passAt ?? usualPassAt[kindOf(scorer)])
}
