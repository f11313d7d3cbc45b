import { createHash } from 'node:crypto'
import type { ToolSet } from 'ai'
import { isSameJson, type RecordedCall } from '../../core/again/recorded-calls.ts'
import type { Json } from '../../core/json.ts'
import type { Usage } from '../../core/run.ts'
import { toJson } from '../base/json-value.ts'
import { loadSdk } from '../base/sdk.ts'
import { describeFiles } from '../files/inline.ts'
import { type SourceTool, sourceOf, toolSource, toToolName } from '../tools/source.ts'
import { type CallOptions, type PlayedModel, partsOf, type StreamPart, toGenerated, toStream } from './answer-stream.ts'

/** The answer of a model to one call, as it was recorded. */
export interface PlayedCall {
  /** A hash of the prompt that shows when it changed. The prompt itself is not stored. */
  prompt_hash: string
  text?: string
  reasoning?: string
  tool_calls?: { call_id: string; name: string; input: Json }[]
  finish_reason: string
  usage: Usage | null
}

/** What models and tools answered in one turn of a conversation. */
export interface PlayedTurn {
  model_calls: readonly PlayedCall[]
  tool_calls: readonly RecordedCall[]
}

/** Gives the recorded answers of models and tools, turn by turn. */
export class Player {
  #modelCalls: PlayedCall[] = []
  #toolCalls: RecordedCall[] = []
  /** Model calls in this turn. */
  asked = 0
  /** Those among them whose prompt is not the recorded one. */
  changedPrompts = 0
  /** The names of tools that were called with an input that is not recorded. */
  unrecorded: string[] = []

  begin({ model_calls, tool_calls }: PlayedTurn): void {
    this.#modelCalls = [...model_calls]
    this.#toolCalls = [...tool_calls]
    this.asked = 0
    this.changedPrompts = 0
    this.unrecorded = []
  }

  model(): PlayedModel {
    return {
      specificationVersion: 'v4',
      provider: 'saved',
      modelId: 'conversation',
      supportedUrls: {},
      doStream: async (options) => toStream(this.#answer(options)),
      doGenerate: async (options) => toGenerated(this.#answer(options)),
    }
  }

  /** The answer to the same prompt; for a new prompt, the next unused answer. */
  #answer({ prompt }: CallOptions): StreamPart[] {
    this.asked++
    const hash = promptHash(prompt)
    const same = this.#modelCalls.findIndex(({ prompt_hash }) => prompt_hash === hash)
    if (same < 0) this.changedPrompts++
    const [call] = this.#modelCalls.splice(Math.max(same, 0), 1)
    if (call === undefined) throw new Error('The model was called more often than in the saved conversation.')
    const { text, reasoning, tool_calls, usage, finish_reason } = call
    return partsOf({ text, reasoning, tool_calls, usage: usage ?? undefined, finish_reason })
  }

  /** The tools with their recorded results. Tools of an outside source are known from their recorded calls. */
  tools(tools: ToolSet): ToolSet {
    const replaced: ToolSet = {}
    for (const [key, tool] of Object.entries(tools)) {
      const source = sourceOf(tool)
      if (source === undefined) replaced[key] = { ...tool, execute: this.#replay(key) } as ToolSet[string]
      else if (source.outside !== true) replaced[key] = tool
      else replaced[key] = toolSource({}, { partial: true, open: () => this.#calledOf(key) })
    }
    return replaced
  }

  async #calledOf(key: string): Promise<SourceTool[]> {
    const { dynamicTool, jsonSchema } = await loadSdk()
    const names = new Set(this.#toolCalls.map(({ name }) => name).filter((name) => name.startsWith(toToolName(key))))
    return [...names].map((name) => ({
      name,
      own: name,
      tool: dynamicTool({ inputSchema: jsonSchema({ type: 'object' }), execute: this.#replay(name) }),
    }))
  }

  #replay(name: string) {
    return async (input: unknown): Promise<Json> => {
      const place = this.#toolCalls.findIndex((call) => call.name === name && isSameJson(call.input, toJson(input)))
      const [call] = place < 0 ? [] : this.#toolCalls.splice(place, 1)
      if (call === undefined) this.unrecorded.push(name)
      if (call === undefined) throw new Error(`There is no recorded call of '${name}' with ${JSON.stringify(input)}.`)
      if (call.error !== undefined) throw new Error(call.error)
      return call.output ?? null
    }
  }
}

/** Equal for prompts with the same content, regardless of provider options. */
export function promptHash(prompt: unknown): string {
  const text = JSON.stringify(describeFiles(prompt ?? null), (name, value: unknown) => {
    if (name === 'providerOptions') return undefined
    if (value instanceof Uint8Array) return `${value.byteLength} bytes`
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
    return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
  })
  return createHash('sha256').update(text).digest('base64url').slice(0, 22)
}
