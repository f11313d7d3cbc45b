import { isDeepStrictEqual } from 'node:util'
import type { UserConfig } from '../config/types.ts'
import type { Json } from '../core/json.ts'
import { addUsage, type Usage } from '../core/run.ts'
import type { RunResult } from './project.ts'
import type { SavedTest, SavedTurn } from './saved-test.ts'
import { type PlayOptions, playTurns } from './turns.ts'

/** One difference from the saved conversation. */
export interface Difference {
  /** From 1. */
  turn: number
  what: 'status' | 'content' | 'data' | 'error' | 'tool_calls' | 'model_calls' | 'waiting'
  expected: Json
  actual: Json
}

export interface PlayedTest {
  passed: boolean
  differences: Difference[]
  /** Changes that did not affect the outcome. */
  notes: string[]
  /** Of the recorded answers that were played. */
  usage: Usage | null
  /** The test as it would be saved now, with the same model calls. */
  updated: SavedTest
}

/** Replays a saved conversation against a config: agents, tools and workflows come from the config, model answers from the test. */
export async function playSavedTest(config: UserConfig, saved: SavedTest, options: PlayOptions): Promise<PlayedTest> {
  const played: PlayedTest = { passed: true, differences: [], notes: [], usage: null, updated: { ...saved, turns: [] } }
  for await (const { place, turn, result, unanswered, player } of playTurns(config, saved, options)) {
    if (unanswered !== undefined) played.differences.push({ turn: place, what: 'waiting', ...unanswered })
    played.usage = result.usage === null ? played.usage : addUsage(played.usage, result.usage)
    const expect = toExpectation(result)
    played.differences.push(...compare(place, turn, expect, player.asked))
    if (player.changedPrompts > 0) {
      played.notes.push(`turn ${place}: ${player.changedPrompts} of ${player.asked} prompts have changed`)
    }
    played.updated.turns.push({ ...turn, expect })
  }
  played.passed = played.differences.length === 0
  return played
}

function toExpectation({ status, text, events, error, tool_calls }: RunResult): SavedTurn['expect'] {
  const data = events.flatMap((event) => (event.type === 'data' ? [event.data] : []))
  return {
    status,
    content: text,
    ...(data.length === 0 ? {} : { data }),
    ...(error === null ? {} : { error: error.message }),
    tool_calls,
  }
}

function compare(
  turn: number,
  { expect, model_calls }: SavedTurn,
  now: SavedTurn['expect'],
  asked: number,
): Difference[] {
  const found: Difference[] = []
  for (const what of ['status', 'content', 'data', 'error', 'tool_calls'] as const) {
    const expected = toJson(expect[what])
    const actual = toJson(now[what])
    if (!isDeepStrictEqual(expected, actual)) found.push({ turn, what, expected, actual })
  }
  if (asked !== model_calls.length) {
    found.push({ turn, what: 'model_calls', expected: model_calls.length, actual: asked })
  }
  return found
}

function toJson(value: unknown): Json {
  return value === undefined ? null : (JSON.parse(JSON.stringify(value)) as Json)
}
