import type { Json, JsonObject } from '../../../core/json.ts'
import type { GivenPart, Role } from '../../../core/message.ts'
import { type Fields, field, flagField, isFields, textField, wrong } from '../../fields.ts'
import { readContent } from '../content.ts'

/** The answer to what a response has asked for. `path`: where it stands, for errors. */
export type GivenAnswer = { path: string } & (
  | { kind: 'approval'; id: string; approved: boolean; reason: string | undefined }
  | { kind: 'output'; id: string; output: Json }
)

export type InputTurn = { role: Role; parts: GivenPart[] } | { reference: string; path: string }

/** What the items of a request amount to. */
export interface ResponseInput {
  /** What was said before, oldest first. */
  earlier: InputTurn[]
  /** What the last messages of the user say; empty when the input ends with something else. */
  parts: GivenPart[]
  /** Messages of the system and the developer. */
  instructions: string[]
  answers: GivenAnswer[]
  /** Nothing was said after the answers. */
  endsWithAnswers: boolean
}

/** Reads `input`: a text, or items. Items that say nothing to an agent, such as its own reasoning, are left out. */
export function readInput(given: unknown): ResponseInput {
  const read: ResponseInput = { earlier: [], parts: [], instructions: [], answers: [], endsWithAnswers: false }
  if (given === undefined) return read
  if (typeof given === 'string') {
    if (given !== '') read.parts.push({ type: 'text', text: given })
    return read
  }
  if (!Array.isArray(given)) throw wrong('input', 'a string or a list of items')
  const turns: InputTurn[] = []
  for (const [place, item] of given.entries()) readItem(item, `input[${place}]`, read, turns)
  const last = turns.findLastIndex((turn) => !('role' in turn) || turn.role === 'assistant')
  for (const turn of turns.slice(last + 1)) if ('parts' in turn) read.parts.push(...turn.parts)
  read.earlier = turns.slice(0, last + 1)
  return read
}

function readItem(item: unknown, path: string, read: ResponseInput, turns: InputTurn[]): void {
  if (!isFields(item)) throw wrong(path, 'an item with a type')
  const type = textField(item, 'type', `${path}.type`) ?? 'message'
  switch (type) {
    case 'message':
      readMessage(item, path, read, turns)
      return
    case 'item_reference':
      turns.push({ reference: idIn(item, 'id', path), path: `${path}.id` })
      return
    case 'function_call':
      turns.push({
        role: 'assistant',
        parts: [dataOf({ type, ...textsIn(item, ['call_id', 'name', 'arguments'], path) })],
      })
      return
    case 'function_call_output': {
      const answer = readOutput(item, path)
      addAnswer(read, turns, answer, { type, call_id: answer.id, output: answer.output })
      return
    }
    case 'mcp_approval_response': {
      const answer = readApproval(item, path)
      addAnswer(read, turns, answer, { type, approval_request_id: answer.id, approve: answer.approved })
      return
    }
  }
}

/** Where nothing waits for it, an answer is something that was said. */
function addAnswer(read: ResponseInput, turns: InputTurn[], answer: GivenAnswer, said: JsonObject): void {
  if (!read.endsWithAnswers) read.answers = []
  read.answers.push(answer)
  read.endsWithAnswers = true
  turns.push({ role: 'user', parts: [dataOf(said)] })
}

function readMessage(item: Fields, path: string, read: ResponseInput, turns: InputTurn[]): void {
  const role = textField(item, 'role', `${path}.role`)
  const parts = readContent(field(item, 'content'), `${path}.content`)
  if (role === 'system' || role === 'developer') {
    for (const part of parts) {
      if (part.type !== 'text') throw wrong(`${path}.content`, 'text')
      read.instructions.push(part.text)
    }
    return
  }
  if (role !== 'user' && role !== 'assistant') {
    throw wrong(`${path}.role`, "'user', 'assistant', 'system' or 'developer'")
  }
  if (parts.length === 0) return
  read.endsWithAnswers = false
  turns.push({ role, parts })
}

function readOutput(item: Fields, path: string): Extract<GivenAnswer, { kind: 'output' }> {
  const output = field(item, 'output')
  const isList = Array.isArray(output)
  if (typeof output !== 'string' && !isList) throw wrong(`${path}.output`, 'a string or a list of parts')
  return {
    kind: 'output',
    path: `${path}.call_id`,
    id: idIn(item, 'call_id', path),
    output: isList ? listed(output) : output,
  }
}

/** The text of text parts; other parts as they are. */
function listed(parts: unknown[]): Json {
  const isText = (part: unknown): part is { text: string } => isFields(part) && typeof part.text === 'string'
  return parts.every(isText) ? parts.map(({ text }) => text).join('') : (parts as Json)
}

function readApproval(item: Fields, path: string): Extract<GivenAnswer, { kind: 'approval' }> {
  const approved = flagField(item, 'approve', `${path}.approve`)
  if (approved === undefined) throw wrong(`${path}.approve`, 'a boolean')
  const reason = textField(item, 'reason', `${path}.reason`)
  const id = idIn(item, 'approval_request_id', path)
  return { kind: 'approval', path: `${path}.approval_request_id`, id, approved, reason }
}

function idIn(item: Fields, name: string, path: string): string {
  const id = textField(item, name, `${path}.${name}`)
  if (id === undefined || id === '') throw wrong(`${path}.${name}`, 'a string')
  return id
}

function textsIn(item: Fields, names: readonly string[], path: string): JsonObject {
  return Object.fromEntries(
    names.flatMap((name) => {
      const text = textField(item, name, `${path}.${name}`)
      return text === undefined ? [] : [[name, text]]
    }),
  )
}

function dataOf(data: JsonObject): GivenPart {
  return { type: 'data', data }
}
