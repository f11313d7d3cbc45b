import { invalid } from '../../../core/error.ts'
import { isSessionId } from '../../../core/id.ts'
import type { JsonObject } from '../../../core/json.ts'
import { type Fields, field, flagField, isFields, listField, objectField, textField, wrong } from '../../fields.ts'
import { unsupported } from '../error.ts'
import { readFormat } from '../format.ts'
import type { Echo } from './echo.ts'
import { type ResponseInput, readInput } from './input.ts'

/** A request for a response, checked. */
export interface ResponsePost {
  /** As it was sent, for what both APIs read of it. */
  body: Fields
  input: ResponseInput
  model: string | undefined
  previous: string | undefined
  conversation: string | undefined
  stream: boolean
  background: boolean
  instructions: string | undefined
  outputSchema: JsonObject | undefined
  metadata: JsonObject | undefined
  user: string | undefined
  echo: Omit<Echo, 'model'>
}

/** Bytes of all that is repeated, as JSON. */
const mostEchoed = 250 * 1024
/** Characters of tools that are repeated as they came. */
const mostTools = 64 * 1024

/** Throws `invalid_request` with the field as `param`. Fields that are not known are ignored. */
export function readPost(body: unknown): ResponsePost {
  if (!isFields(body)) throw wrong('The body', 'a JSON object')
  const model = textField(body, 'model')
  const previous = textField(body, 'previous_response_id')
  const conversation = readConversation(field(body, 'conversation'))
  if (previous !== undefined && conversation !== undefined) {
    throw unsupported(
      'Send either previous_response_id or conversation: a response names its conversation.',
      'conversation',
    )
  }
  const background = flagField(body, 'background') ?? false
  const store = flagField(body, 'store') ?? true
  if (background && !store) throw unsupported('background needs store: the response is read later.', 'background')
  const instructions = textField(body, 'instructions')
  const metadata = readMetadata(body)
  const text = objectField(body, 'text')
  const user = textField(body, 'user')
  const safety = textField(body, 'safety_identifier')
  objectField(body, 'stream_options')
  listField(body, 'include')?.forEach((one, place) => {
    if (typeof one !== 'string') throw wrong(`include[${place}]`, 'a string')
  })
  const post: ResponsePost = {
    body,
    input: readInput(field(body, 'input')),
    model,
    previous,
    conversation,
    stream: flagField(body, 'stream') ?? false,
    background,
    instructions,
    outputSchema: readFormat(text && field(text, 'format'), 'text.format'),
    metadata,
    user: user ?? safety,
    echo: {
      background,
      store,
      instructions: instructions ?? null,
      previous_response_id: previous ?? null,
      metadata: metadata ?? {},
      max_output_tokens: wholeField(body, 'max_output_tokens', 1) ?? null,
      max_tool_calls: wholeField(body, 'max_tool_calls', 0) ?? null,
      parallel_tool_calls: flagField(body, 'parallel_tool_calls') ?? true,
      reasoning: (objectField(body, 'reasoning') as JsonObject | undefined) ?? null,
      temperature: numberField(body, 'temperature') ?? 1,
      top_p: numberField(body, 'top_p') ?? 1,
      presence_penalty: numberField(body, 'presence_penalty') ?? 0,
      frequency_penalty: numberField(body, 'frequency_penalty') ?? 0,
      top_logprobs: wholeField(body, 'top_logprobs', 0) ?? 0,
      text: { format: { type: 'text' }, ...(text as JsonObject | undefined) },
      tool_choice: readChoice(field(body, 'tool_choice')),
      tools: readTools(body),
      truncation: textField(body, 'truncation') ?? 'disabled',
      user: user ?? null,
      service_tier: textField(body, 'service_tier') ?? 'default',
      safety_identifier: safety ?? null,
      prompt_cache_key: textField(body, 'prompt_cache_key') ?? null,
    },
  }
  refuseLarge(post.echo)
  return post
}

function refuseLarge(echo: ResponsePost['echo']): void {
  const size = Buffer.byteLength(JSON.stringify(echo))
  if (size <= mostEchoed) return
  const [largest = ''] = Object.entries(echo)
    .map(([name, value]) => [name, JSON.stringify(value).length] as const)
    .reduce((most, one) => (one[1] > most[1] ? one : most))
  throw invalid(`What answers repeat has ${size} bytes, and may have ${mostEchoed}. Shorten ${largest}.`, largest)
}

function readConversation(given: unknown): string | undefined {
  const id = isFields(given) ? field(given, 'id') : given
  if (given === undefined) return undefined
  const path = isFields(given) ? 'conversation.id' : 'conversation'
  if (!isSessionId(id)) throw wrong(path, 'an id of 1 to 128 of A-Z a-z 0-9 . _ : -')
  return id
}

/** Texts by name, as OpenAI has it. */
export function readMetadata(body: Fields): JsonObject | undefined {
  const metadata = objectField(body, 'metadata')
  for (const [name, value] of Object.entries(metadata ?? {})) {
    if (typeof value !== 'string') throw wrong(`metadata.${name.slice(0, 64)}`, 'a string')
  }
  return metadata as JsonObject | undefined
}

/** Larger ones are repeated by their names only. */
function readTools(body: Fields): JsonObject[] {
  const tools = (listField(body, 'tools') ?? []).map((tool, place) => {
    if (!isFields(tool)) throw wrong(`tools[${place}]`, 'a tool with a type')
    return tool as JsonObject
  })
  if (JSON.stringify(tools).length <= mostTools) return tools
  return tools.map(({ type = 'function', name = null }) => ({ type, name, parameters: null, strict: null }))
}

function readChoice(choice: unknown): string | JsonObject {
  if (choice === undefined || typeof choice === 'string') return choice ?? 'auto'
  if (isFields(choice)) return choice as JsonObject
  throw wrong('tool_choice', 'a string or an object')
}

function numberField(body: Fields, name: string): number | undefined {
  const value = field(body, name)
  // JSON can have numbers that are too large to be one.
  if (value === undefined || (typeof value === 'number' && Number.isFinite(value))) return value
  throw wrong(name, 'a number')
}

function wholeField(body: Fields, name: string, from: number): number | undefined {
  const value = field(body, name)
  if (value === undefined || (Number.isSafeInteger(value) && Number(value) >= from)) return value as number | undefined
  throw wrong(name, `a whole number from ${from}`)
}
