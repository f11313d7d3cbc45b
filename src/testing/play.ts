import { isDeepStrictEqual } from 'node:util'
import type { UserConfig } from '../config/types.ts'
import { isAppError } from '../core/error.ts'
import type { Json } from '../core/json.ts'
import { addUsage, type Usage } from '../core/run.ts'
import { Player } from '../runnables/again/player.ts'
import { answersTo, type SavedRequest, told } from './pauses.ts'
import { openWith, type RunResult, type TestProject } from './project.ts'
import type { SavedTest, SavedTurn } from './saved-test.ts'

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

export interface PlayOptions {
  root: string
  /** Overrides the setting of the test. */
  tools?: SavedTest['tools'] | undefined
  signal?: AbortSignal | undefined
}

/** Replays a saved conversation against a config: agents, tools and workflows come from the config, model answers from the test. */
export async function playSavedTest(config: UserConfig, saved: SavedTest, options: PlayOptions): Promise<PlayedTest> {
  const player = new Player()
  const { signal } = options
  const recorded = (options.tools ?? saved.tools) === 'recorded'
  const model = player.model()
  await using project = await openWith(config, options.root, {
    model: (setting) => (setting === undefined ? undefined : model),
    ...(recorded ? { tools: (tools) => player.tools(tools) } : {}),
  })
  const played: PlayedTest = { passed: true, differences: [], notes: [], usage: null, updated: { ...saved, turns: [] } }
  let sessionId: string | undefined
  for (const [place, turn] of saved.turns.entries()) {
    player.begin({ model_calls: turn.model_calls, tool_calls: turn.expect.tool_calls })
    const begun = await project.run(saved.entity, turn.input, {
      ...(sessionId && { sessionId }),
      ...(signal && { signal }),
    })
    signal?.throwIfAborted()
    const { result, unanswered } = await answer(project, begun, turn.pauses ?? [])
    signal?.throwIfAborted()
    if (unanswered !== undefined) played.differences.push({ turn: place + 1, what: 'waiting', ...unanswered })
    played.usage = result.usage === null ? played.usage : addUsage(played.usage, result.usage)
    sessionId = result.session_id
    const expect = toExpectation(result)
    played.differences.push(...compare(place + 1, turn, expect, player.asked))
    if (player.changedPrompts > 0) {
      played.notes.push(`turn ${place + 1}: ${player.changedPrompts} of ${player.asked} prompts have changed`)
    }
    played.updated.turns.push({ ...turn, expect })
  }
  played.passed = played.differences.length === 0
  return played
}

/** Gives the saved answers as long as the run waits for what it waited for then. */
async function answer(
  project: TestProject,
  begun: RunResult,
  pauses: readonly SavedRequest[][],
): Promise<{ result: RunResult; unanswered?: Pick<Difference, 'expected' | 'actual'> }> {
  let result = begun
  for (const saved of pauses) {
    const given = answersTo(result.waiting, saved)
    if (given === undefined) return { result, unanswered: { expected: told(saved), actual: told(result.waiting) } }
    try {
      result = await project.resume(result.run_id, given)
    } catch (error) {
      // The answer of then is none to the question of now.
      if (!isAppError(error) || error.code !== 'invalid_request') throw error
      return { result, unanswered: { expected: told(saved), actual: error.message } }
    }
  }
  if (result.waiting.length === 0) return { result }
  return { result, unanswered: { expected: [], actual: told(result.waiting) } }
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
