import type { TracedCall } from '../core/events/trace.ts'
import type { Json, JsonObject } from '../core/json.ts'
import type { Part } from '../core/message.ts'
import { type Attributes, attributesOf } from './draft.ts'

/*
 * Contents in the forms of the conventions: lists of messages with parts, as JSON text. Longer texts are cut, so that one
 * value has at most `maxCharacters` and stays JSON.
 */

export type ContentPart = JsonObject & { type: string }

const shortestText = 16
const cutMark = '…'

/** Parts of a recorded message. Files are named, never included. */
export function contentParts(parts: readonly Part[]): ContentPart[] {
  return parts.map((part): ContentPart => {
    if (part.type === 'text') return { type: 'text', content: part.text }
    if (part.type === 'data') return { type: 'text', content: JSON.stringify(part.data) }
    return fileOf(part.media_type, part.name)
  })
}

/** A value as JSON, cut as a text when it is too long. */
export function jsonText(value: Json, maxCharacters: number): string {
  return cut(JSON.stringify(value), maxCharacters)
}

function cut(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text
  const end = text.slice(0, maxCharacters - cutMark.length)
  return (/[\ud800-\udbff]$/.test(end) ? end.slice(0, -1) : end) + cutMark
}

/** Undefined when the list can't be made to fit. */
export function listText(list: readonly object[], maxCharacters: number): string | undefined {
  let text = JSON.stringify(list)
  for (let longest = maxCharacters >> 1; text.length > maxCharacters && longest >= shortestText; longest >>= 1) {
    text = JSON.stringify(list, (_, value: unknown) => (typeof value === 'string' ? cut(value, longest) : value))
  }
  return text.length <= maxCharacters ? text : undefined
}

/** What the scope `prompts` protects in the API: the exact prompt, the tools and the settings of a model call. */
export function promptAttributes(
  { messages, tools, settings }: Pick<TracedCall, 'messages' | 'tools' | 'settings'>,
  maxCharacters: number,
): Attributes {
  const told = Array.isArray(messages) ? messages.filter(isObject) : []
  const system = told.filter(({ role }) => role === 'system').flatMap(partsOf)
  const others = told.filter(({ role }) => role !== 'system')
  const input = others.map((message) => ({ role: String(message.role), parts: partsOf(message) }))
  const list = (given: readonly object[]) => (given.length === 0 ? undefined : listText(given, maxCharacters))
  const definitions = Array.isArray(tools) ? tools.filter(isObject).map(definitionOf) : []
  return {
    ...attributesOf({
      'gen_ai.system_instructions': list(system),
      'gen_ai.input.messages': list(input),
      'gen_ai.tool.definitions': list(definitions),
    }),
    ...settingAttributes(settings ?? {}),
  }
}

const settingNames: Readonly<Record<string, string>> = {
  maxOutputTokens: 'gen_ai.request.max_tokens',
  temperature: 'gen_ai.request.temperature',
  topP: 'gen_ai.request.top_p',
  topK: 'gen_ai.request.top_k',
  presencePenalty: 'gen_ai.request.presence_penalty',
  frequencyPenalty: 'gen_ai.request.frequency_penalty',
  seed: 'gen_ai.request.seed',
}

function settingAttributes(settings: JsonObject): Attributes {
  const attributes: Attributes = {}
  for (const [setting, name] of Object.entries(settingNames)) {
    const value = settings[setting]
    if (typeof value === 'number') attributes[name] = value
  }
  const { stopSequences: stops } = settings
  if (Array.isArray(stops) && stops.length > 0) attributes['gen_ai.request.stop_sequences'] = stops.map(String)
  return attributes
}

function definitionOf({ name, description, inputSchema }: JsonObject): JsonObject {
  return {
    type: 'function',
    name: String(name),
    ...(typeof description === 'string' && { description }),
    ...(inputSchema !== undefined && { parameters: inputSchema }),
  }
}

/** Parts of a message as the AI SDK sends it. */
function partsOf({ content }: JsonObject): ContentPart[] {
  if (typeof content === 'string') return [{ type: 'text', content }]
  return Array.isArray(content) ? content.filter(isObject).map(partOf) : []
}

function partOf(part: JsonObject): ContentPart {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return { type: part.type, content: String(part.text) }
    case 'tool-call':
      return {
        type: 'tool_call',
        id: String(part.toolCallId),
        name: String(part.toolName),
        arguments: part.input ?? null,
      }
    case 'tool-result':
      return { type: 'tool_call_response', id: String(part.toolCallId), response: part.output ?? null }
    default:
      return fileOf(part.mediaType, part.filename)
  }
}

function fileOf(mediaType: Json | undefined, name: Json | undefined): ContentPart {
  return {
    type: 'file_reference',
    ...(typeof mediaType === 'string' && { mime_type: mediaType }),
    ...(typeof name === 'string' && { name }),
  }
}

function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
