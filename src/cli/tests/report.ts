import type { KeptResult } from '../../testing/kept-runs.ts'
import type { Difference } from '../../testing/play.ts'
import type { TestOutcome } from '../../testing/play-test.ts'
import type { TurnScore } from '../../testing/scores.ts'
import { print } from '../terminal/output.ts'
import { terminalLine } from '../terminal/text.ts'

export interface PlayedFile {
  file: string
  turns: number
  /** The file has the answers of now. */
  updated: boolean
  outcome: TestOutcome
  /** Of the run that this one is compared with. */
  before: KeptResult | undefined
}

/** The lines of one test: what came of it, and what is wrong. */
export function report({ file, turns, updated, outcome, before }: PlayedFile): void {
  const { passed, flaky, passes, times, score, differences, scores, problem, notes } = outcome
  const mark = passed ? 'ok      ' : updated ? 'updated ' : flaky ? 'flaky   ' : 'FAILED  '
  const parts = [`${turns} turn${turns === 1 ? '' : 's'}`, ...(times > 1 ? [`passed ${passes} of ${times} times`] : [])]
  print(`${mark}${terminalLine(file)} (${parts.join(', ')})${score === null ? '' : `  ${shown(score, before?.score)}`}`)
  if (problem !== null) print(`  ${terminalLine(problem)}`)
  for (const difference of differences) print(`  ${describe(difference)}`)
  for (const one of scores) if (!one.passed) print(`  ${describeScore(one)}`)
  for (const note of notes) print(`  note: ${terminalLine(note)}`)
}

/** One line of JSON: the names of the record. */
export function toJson({ file, updated, outcome, before }: PlayedFile): object {
  const { updated: _test, ...told } = outcome
  return { file, updated, ...told, before: before ?? null }
}

function shown(score: number, before: number | null | undefined): string {
  const change = before == null ? 0 : score - before
  const sign = change > 0 ? '+' : '−'
  return `score ${score.toFixed(2)}${Math.abs(change) < 0.005 ? '' : ` (${sign}${Math.abs(change).toFixed(2)})`}`
}

function describe({ turn, what, expected, actual }: Difference): string {
  const show = (value: unknown) => terminalLine(typeof value === 'string' ? value : JSON.stringify(value)).slice(0, 300)
  return `turn ${turn}: ${what.replace('_', ' ')}\n    expected ${show(expected)}\n    got      ${show(actual)}`
}

function describeScore({ turn, scorer, score, reason, problem }: TurnScore): string {
  const why = terminalLine(problem ?? reason ?? '').slice(0, 300)
  return `turn ${turn}: ${scorer} ${score === null ? 'failed' : score.toFixed(2)}${why === '' ? '' : `: ${why}`}`
}
