import type { UserConfig } from '../config/types.ts'
import { isAppError } from '../core/error.ts'
import type { Json } from '../core/json.ts'
import { Player } from '../runnables/again/player.ts'
import { answersTo, type SavedRequest, told } from './pauses.ts'
import { openWith, type RunResult, type TestProject } from './project.ts'
import type { SavedTest, SavedTurn } from './saved-test.ts'

export interface PlayOptions {
  root: string
  /** `recorded` (default): models give the answers of the test; `live`: the config's models are asked. */
  models?: 'recorded' | 'live' | undefined
  /** Overrides the setting of the test. */
  tools?: SavedTest['tools'] | undefined
  signal?: AbortSignal | undefined
}

/** A turn that was played. */
export interface PlayedTurnResult {
  /** From 1. */
  place: number
  turn: SavedTurn
  result: RunResult
  /** The run waits for something else than then. */
  unanswered?: Unanswered
  /** What was asked of models in this turn. */
  player: Player
}

export interface Unanswered {
  expected: Json
  actual: Json
}

/** Plays a saved conversation against a config, turn by turn, in one session of a server in memory. */
export async function* playTurns(
  config: UserConfig,
  saved: SavedTest,
  { root, models = 'recorded', tools = saved.tools, signal }: PlayOptions,
): AsyncGenerator<PlayedTurnResult> {
  const player = new Player()
  const model = player.model()
  await using project = await openWith(config, root, {
    ...(models === 'recorded' && { model: (setting) => (setting === undefined ? undefined : model) }),
    ...(tools === 'recorded' && { tools: (given) => player.tools(given) }),
  })
  let sessionId: string | undefined
  for (const [index, turn] of saved.turns.entries()) {
    player.begin({ model_calls: turn.model_calls, tool_calls: turn.expect.tool_calls })
    const begun = await project.run(saved.entity, turn.input, {
      ...(sessionId && { sessionId }),
      ...(signal && { signal }),
    })
    signal?.throwIfAborted()
    const answered = await answer(project, begun, turn.pauses ?? [])
    signal?.throwIfAborted()
    sessionId = answered.result.session_id
    yield { place: index + 1, turn, player, ...answered }
  }
}

/** Gives the saved answers as long as the run waits for what it waited for then. */
async function answer(
  project: TestProject,
  begun: RunResult,
  pauses: readonly SavedRequest[][],
): Promise<{ result: RunResult; unanswered?: Unanswered }> {
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
