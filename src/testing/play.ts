import { isDeepStrictEqual } from 'node:util'
import { dynamicTool, jsonSchema, type ToolSet } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import type { UserConfig } from '../config/types.ts'
import type { Json } from '../core/json.ts'
import { type SourceTool, sourceOf, toolSource, toToolName } from '../runnables/tools/source.ts'
import { openWith, type RunResult, type TestToolCall } from './project.ts'
import { promptHash, type SavedModelCall, type SavedTest, type SavedTurn } from './saved-test.ts'
import { type CallOptions, partsOf, type StreamPart, toGenerated, toStream } from './scripted-model.ts'

/** One difference from the saved conversation. */
export interface Difference {
  /** From 1. */
  turn: number
  what: 'status' | 'content' | 'data' | 'error' | 'tool_calls' | 'model_calls'
  expected: Json
  actual: Json
}

export interface PlayedTest {
  passed: boolean
  differences: Difference[]
  /** Changes that did not affect the outcome. */
  notes: string[]
  /** The test as it would be saved now, with the same model calls. */
  updated: SavedTest
}

export interface PlayOptions {
  root: string
  /** Overrides the setting of the test. */
  tools?: SavedTest['tools'] | undefined
}

/** Replays a saved conversation against a config: agents, tools and workflows come from the config, model answers from the test. */
export async function playSavedTest(config: UserConfig, saved: SavedTest, options: PlayOptions): Promise<PlayedTest> {
  const past = new Past()
  const recorded = (options.tools ?? saved.tools) === 'recorded'
  const model = past.model()
  await using project = await openWith(config, options.root, {
    model: (setting) => (setting === undefined ? undefined : model),
    ...(recorded ? { tools: (tools) => past.tools(tools) } : {}),
  })
  const played: PlayedTest = { passed: true, differences: [], notes: [], updated: { ...saved, turns: [] } }
  let sessionId: string | undefined
  for (const [place, turn] of saved.turns.entries()) {
    past.begin(turn)
    const result = await project.run(saved.entity, turn.input, sessionId === undefined ? {} : { sessionId })
    sessionId = result.session_id
    const expect = toExpectation(result)
    played.differences.push(...compare(place + 1, turn, expect, past.asked))
    if (past.changedPrompts > 0) {
      played.notes.push(`turn ${place + 1}: ${past.changedPrompts} of ${past.asked} prompts have changed`)
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

/** The recorded answers of models and tools in the current turn. */
class Past {
  #modelCalls: SavedModelCall[] = []
  #toolCalls: TestToolCall[] = []
  asked = 0
  changedPrompts = 0

  begin({ model_calls, expect }: SavedTurn): void {
    this.#modelCalls = [...model_calls]
    this.#toolCalls = [...expect.tool_calls]
    this.asked = 0
    this.changedPrompts = 0
  }

  model(): MockLanguageModelV4 {
    return new MockLanguageModelV4({
      provider: 'saved',
      modelId: 'conversation',
      doStream: async (options) => toStream(this.#answer(options)),
      doGenerate: async (options) => toGenerated(this.#answer(options)),
    })
  }

  /** The answer to the same prompt; for a new prompt, the next unused answer. */
  #answer({ prompt }: CallOptions): StreamPart[] {
    this.asked++
    const hash = promptHash(prompt)
    const same = this.#modelCalls.findIndex(({ prompt_hash }) => prompt_hash === hash)
    if (same < 0) this.changedPrompts++
    const [call] = this.#modelCalls.splice(Math.max(same, 0), 1)
    if (call === undefined) throw new Error('The model was called more often than in the saved conversation.')
    return partsOf({
      text: call.text,
      reasoning: call.reasoning,
      tool_calls: call.tool_calls,
      usage: call.usage ?? undefined,
      finish_reason: call.finish_reason,
    })
  }

  /** The tools with their recorded results. Tools of an outside source are known from their recorded calls. */
  tools(tools: ToolSet): ToolSet {
    const replaced: ToolSet = {}
    for (const [key, tool] of Object.entries(tools)) {
      const source = sourceOf(tool)
      if (source === undefined) replaced[key] = { ...tool, execute: this.#replay(key) } as ToolSet[string]
      else if (source.outside !== true) replaced[key] = tool
      else replaced[key] = toolSource({}, { partial: true, open: async () => this.#calledOf(key) })
    }
    return replaced
  }

  #calledOf(key: string): SourceTool[] {
    const names = new Set(this.#toolCalls.map(({ name }) => name).filter((name) => name.startsWith(toToolName(key))))
    return [...names].map((name) => ({
      name,
      own: name,
      tool: dynamicTool({ inputSchema: jsonSchema({ type: 'object' }), execute: this.#replay(name) }),
    }))
  }

  #replay(name: string) {
    return async (input: unknown): Promise<Json> => {
      const place = this.#toolCalls.findIndex(
        (call) => call.name === name && isDeepStrictEqual(call.input, toJson(input)),
      )
      const [call] = place < 0 ? [] : this.#toolCalls.splice(place, 1)
      if (call === undefined) throw new Error(`There is no recorded call of '${name}' with ${JSON.stringify(input)}.`)
      if (call.error !== undefined) throw new Error(call.error)
      return call.output ?? null
    }
  }
}
