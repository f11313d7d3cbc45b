import type { Json, JsonObject } from '../../core/json.ts'
import { searchModes } from '../../core/knowledge/knowledge.ts'
import type { AgainRequest } from '../../wire/again.ts'
import { readFilters } from '../state/address.ts'

export const settings = ['temperature', 'topP', 'topK', 'maxOutputTokens', 'seed'] as const
type Setting = (typeof settings)[number]

/** What the form has; absent: as it was. */
export interface Fields {
  input?: string
  instructions?: string
  model?: string
  /** Numbers, with the names of the trace. */
  settings: Readonly<Partial<Record<Setting, string>>>
  limit?: string
  mode?: string
  /** An object as JSON. */
  filters?: string
  output?: string
  /** As JSON. */
  messages?: string
  /** Chunks that are left out. */
  drop: readonly string[]
  after: 'ask' | 'recorded' | 'live'
}

interface Before {
  input: string
  instructions: string
  output: Json | undefined
  /** What it runs from is a tool call. */
  isTool: boolean
  isCall: boolean
}

/** The request that makes the changes, and no others. Throws for what should be JSON and is none. */
export function requestOf(fields: Fields, from: number | undefined, before: Before, times: number): AgainRequest {
  const { input, instructions, model, output, messages, after } = fields
  const passages = passagesOf(fields)
  const numbers = Object.entries(fields.settings).flatMap(([name, value]) => (value ? [[name, Number(value)]] : []))
  const edit: NonNullable<AgainRequest['edit']> = {
    ...(from === undefined && input !== undefined && input !== before.input && { input }),
    ...(instructions?.trim() && instructions !== before.instructions && { instructions }),
    ...(model?.trim() && { model: model.trim() }),
    ...(numbers.length > 0 && { settings: Object.fromEntries(numbers) }),
    ...(output !== undefined && before.isTool && { tool_output: outputOf(output, before.output) }),
    ...(Object.keys(passages).length > 0 && { passages }),
  }
  if (messages !== undefined && before.isCall) edit.messages = messagesOf(messages)
  const hasEdit = Object.keys(edit).length > 0
  return { ...(from !== undefined && { from }), ...(hasEdit && { edit }), after, times, keep: 'no' }
}

/** Without the chunks alone, the recorded search; else it is made anew. */
function passagesOf({ drop, limit, mode, filters }: Fields) {
  const wanted = readFilters(filters?.trim() || undefined)
  if (typeof wanted === 'string') throw new Error(wanted)
  const chosen = searchModes.find((one) => one === mode)
  return {
    ...(drop.length > 0 && { drop: [...drop] }),
    ...(limit && { limit: Number(limit) }),
    ...(chosen !== undefined && { mode: chosen }),
    ...(wanted !== undefined && { filters: wanted }),
  }
}

function messagesOf(text: string): JsonObject[] {
  try {
    const messages: unknown = JSON.parse(text)
    if (Array.isArray(messages)) return messages as JsonObject[]
  } catch {
    // It is told below.
  }
  throw new Error('The messages are no list in JSON. Mend them, or choose another step and come back.')
}

/** A text stays one; all else is JSON. */
function outputOf(text: string, before: Json | undefined): Json {
  if (typeof before === 'string' || before === undefined) return text
  try {
    return JSON.parse(text) as Json
  } catch {
    throw new Error('The output of the tool is no JSON. Mend it, or put a text in quotes.')
  }
}
