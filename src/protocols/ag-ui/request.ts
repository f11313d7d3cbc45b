import { invalid } from '../../core/error.ts'
import { isSessionId } from '../../core/id.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import type { ClientTool } from '../../core/run.ts'
import { parseKnown } from '../../wire/parse.ts'
import { AgUiOptions } from '../../wire/protocols/ag-ui.ts'
import { type Fields, field, isFields, listField, textField, wrong } from '../fields.ts'

/** A posted message: its content is read when it is needed. */
export interface PostedMessage {
  id: string
  role: 'user' | 'assistant' | 'tool'
  fields: Fields
  path: string
}

/** An answer to an interrupt. */
export interface PostedAnswer {
  interruptId: string
  isResolved: boolean
  payload: Json | undefined
  path: string
}

/** What a client posts to run an agent, checked. */
export interface AgUiInput {
  threadId: string
  runId: string
  /** Undefined before 1.0. */
  protocolVersion: string | undefined
  messages: readonly PostedMessage[]
  /** How many messages come before the new ones of the user. */
  earlier: number
  tools: ClientTool[]
  /** What the messages of the system and the context say; undefined without any. */
  instructions: string | undefined
  state: JsonObject | undefined
  resume: PostedAnswer[]
  /** Without our own options. */
  forwarded: Json | undefined
  options: AgUiOptions
}

const maxInstructionsBytes = 256 * 1024

/** Throws `invalid_request` with the field's path. Null counts as absent; unknown fields are ignored. */
export function readInput(body: unknown): AgUiInput {
  if (!isFields(body)) throw wrong('The body', 'a JSON object with threadId, runId and messages')
  const threadId = field(body, 'threadId')
  if (!isSessionId(threadId)) throw wrong('threadId', '1 to 128 of A-Z a-z 0-9 . _ : -')
  const runId = field(body, 'runId')
  if (!isName(runId)) throw wrong('runId', 'a string of 1 to 256 characters, without NUL and half characters')
  const posted = listField(body, 'messages')
  if (posted === undefined) throw wrong('messages', 'a list')
  const messages = posted.flatMap(readMessage)
  const forwarded = field(body, 'forwardedProps') as Json | undefined
  return {
    threadId,
    runId,
    protocolVersion: textField(body, 'protocolVersion'),
    messages,
    earlier: messages.findLastIndex(({ role }) => role !== 'user') + 1,
    tools: (listField(body, 'tools') ?? []).map(readTool),
    instructions: readInstructions(posted, listField(body, 'context') ?? []),
    state: readState(field(body, 'state')),
    resume: (listField(body, 'resume') ?? []).map(readAnswer),
    forwarded: withoutOptions(forwarded),
    options: readOptions(isFields(forwarded) ? field(forwarded, 'agentserve') : undefined),
  }
}

/** As every store can keep it. */
function isName(id: unknown): id is string {
  return typeof id === 'string' && id !== '' && id.length <= 256 && id.isWellFormed() && !id.includes('\0')
}

/** Reasoning and activities are the client's own; roles that are not known say nothing to an agent. */
function readMessage(message: unknown, place: number): PostedMessage[] {
  const path = `messages.${place}`
  if (!isFields(message) || typeof message.role !== 'string') throw wrong(path, 'a message with id and role')
  const { role, id } = message
  if (role !== 'user' && role !== 'assistant' && role !== 'tool') return []
  if (!isName(id)) {
    throw wrong(`${path}.id`, 'a string of 1 to 256 characters, without NUL and half characters')
  }
  return [{ id, role, fields: message, path }]
}

function readTool(tool: unknown, place: number): ClientTool {
  const path = `tools.${place}`
  if (!isFields(tool)) throw wrong(path, 'a tool with name and parameters')
  const name = textField(tool, 'name', `${path}.name`)
  if (name === undefined) throw wrong(`${path}.name`, 'a string')
  const description = textField(tool, 'description', `${path}.description`)
  const parameters = field(tool, 'parameters') ?? { type: 'object', properties: {} }
  if (!isFields(parameters)) throw wrong(`${path}.parameters`, 'a JSON schema')
  return { name, ...(description !== undefined && { description }), parameters: parameters as JsonObject }
}

function readInstructions(posted: readonly unknown[], context: readonly unknown[]): string | undefined {
  const said = posted.flatMap((message, place) => {
    if (!isFields(message) || (message.role !== 'system' && message.role !== 'developer')) return []
    const content = field(message, 'content')
    if (content === undefined || typeof content === 'string') return content ?? []
    throw wrong(`messages.${place}.content`, 'a string')
  })
  const known = context.map((one, place) => {
    const path = `context.${place}`
    if (!isFields(one)) throw wrong(path, 'an object with description and value')
    const description = textField(one, 'description', `${path}.description`) ?? ''
    const value = field(one, 'value') ?? ''
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    return description === '' ? text : `${description}:\n${text}`
  })
  const text = [...said, ...known].filter((one) => one !== '').join('\n\n')
  if (Buffer.byteLength(text) > maxInstructionsBytes) {
    const message = `The context and the system messages have more than ${maxInstructionsBytes / 1024} KiB. Send less.`
    throw invalid(message, 'context')
  }
  return text === '' ? undefined : text
}

/** Only an object can be merged into the session's state. */
function readState(state: unknown): JsonObject | undefined {
  if (state === undefined) return undefined
  if (!isFields(state)) throw wrong('state', 'an object')
  return Object.keys(state).length === 0 ? undefined : (state as JsonObject)
}

function readAnswer(entry: unknown, place: number): PostedAnswer {
  const path = `resume.${place}`
  if (!isFields(entry)) throw wrong(path, 'an object with interruptId and status')
  const interruptId = textField(entry, 'interruptId', `${path}.interruptId`)
  if (interruptId === undefined) throw wrong(`${path}.interruptId`, 'a string')
  const { status } = entry
  if (status !== 'resolved' && status !== 'cancelled') throw wrong(`${path}.status`, "'resolved' or 'cancelled'")
  const payload = field(entry, 'payload') as Json | undefined
  return { interruptId, isResolved: status === 'resolved', payload, path }
}

function withoutOptions(forwarded: Json | undefined): Json | undefined {
  if (!isFields(forwarded)) return forwarded
  const { agentserve: _, ...rest } = forwarded
  return Object.keys(rest).length === 0 ? undefined : (rest as JsonObject)
}

function readOptions(given: unknown): AgUiOptions {
  if (given === undefined) return {}
  if (!isFields(given)) throw wrong('forwardedProps.agentserve', 'an object')
  return parseKnown(AgUiOptions, given)
}
