import type { Json, JsonObject } from '../json.ts'
import type { ModelChoice } from '../model.ts'
import type { RunStatus } from '../run.ts'

/** What a scorer sees of one turn. */
export interface AnswerToScore {
  /** The question, as text. */
  input: string
  status: RunStatus
  /** The answer. */
  text: string
  /** Its last data part; undefined when it has none. */
  data: Json | undefined
  /** The names of the sources that the answer cites. */
  cited: readonly string[]
  tool_calls: readonly { name: string; input: Json; output?: Json; error?: string }[]
  /** The answer of the saved conversation. */
  expected: { content: string; data?: readonly Json[] }
}

/** From 0 to 1. */
export interface Scored {
  score: number
  reason?: string
}

/** Own code. `true` is 1, `false` is 0. What it throws is the scorer's problem, and the test does not pass. */
export type ScorerFunction = (
  answer: AnswerToScore,
  context: { signal: AbortSignal },
) => boolean | number | Scored | Promise<boolean | number | Scored>

/** A schema of zod or of another library that implements Standard Schema. */
export interface StandardSchema {
  '~standard': { validate(value: unknown): unknown }
}

/** A scorer that a test file can hold as JSON. */
export type DeclaredScorer = (
  | { exact: true }
  | { contains: string | readonly string[] }
  | { schema: JsonObject | StandardSchema }
  | { cites: string | readonly string[] }
  | { judge: string; model?: ModelChoice }
) & {
  /** The lowest score that passes; default 1, of a judge 0.5. */
  passAt?: number
}

/**
 * How good an answer is, from 0 to 1. `exact`: text and data are those of the saved conversation. `contains`: the share of these texts
 * that are in the answer, in any case. `schema`: the data, or the text as JSON, fits. `cites`: the share of these patterns of sources
 * that the answer cites. `judge`: a model says so by this prompt. A function passes from 0.5 on.
 */
export type Scorer = DeclaredScorer | ScorerFunction

export const scorerKinds = ['exact', 'contains', 'schema', 'cites', 'judge'] as const
export type ScorerKind = (typeof scorerKinds)[number]

export const usualPassAt: Readonly<Record<ScorerKind, number>> = {
  exact: 1,
  contains: 1,
  schema: 1,
  cites: 1,
  judge: 0.5,
}
export const functionPassAt = 0.5

export function kindOf(scorer: DeclaredScorer): ScorerKind {
  return scorerKinds.find((kind) => kind in scorer) as ScorerKind
}
