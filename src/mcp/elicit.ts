import type { ElicitRequestFormParams, InputResponseView } from '@modelcontextprotocol/server'
import type { Json, JsonObject } from '../core/json.ts'
import type { CallAnswer, Waiting } from '../core/run.ts'
import type { Answer } from '../core/waiting.ts'
import { cut, readable } from './cut.ts'

type Form = ElicitRequestFormParams['requestedSchema']

/** One question that a person at the host was asked. It goes through the host and comes back signed. */
export interface Asked {
  /** Absent for a question without a `call_id`. */
  id?: string
  /** `field`: the answer is the form's field `answer`. */
  as: 'approval' | 'input' | 'field'
}

const mostData = 4000
const noId = 'input'

/** Where the form of a question is among the forms of a result. */
export function keyOf({ id }: Asked): string {
  return id ?? noId
}

/** A form per request of a paused run; undefined when one of them can't be asked by a form. */
export function formsOf(waiting: readonly Waiting[]): { asked: Asked; message: string; form: Form }[] | undefined {
  const forms = waiting.map((request) => {
    const { call_id: id, kind, prompt, data, schema } = request
    const about = id === undefined ? {} : { id }
    const message = messageOf(prompt, data)
    if (kind === 'approval') return { asked: { ...about, as: 'approval' as const }, message, form: approval }
    if (kind === 'tool') return undefined
    const form = schema === undefined ? undefined : formOf(schema)
    if (form !== undefined) return { asked: { ...about, as: 'input' as const }, message, form }
    const field = schema === undefined ? ({ type: 'string' } as const) : fieldOf(schema)
    if (field === undefined) return undefined
    return { asked: { ...about, as: 'field' as const }, message, form: inField(field) }
  })
  return forms.every((form) => form !== undefined) && forms.length > 0 ? forms : undefined
}

const approval: Form = { type: 'object', properties: { approved: { type: 'boolean' } }, required: ['approved'] }

function inField(field: Form['properties'][string]): Form {
  return { type: 'object', properties: { answer: field }, required: ['answer'] }
}

/** What is decided about is shown whole or not at all: a person must not approve what a cut hides. */
function messageOf(prompt: string, data: Json | undefined): string {
  const text = data === undefined ? '' : JSON.stringify(data, undefined, 2)
  const about =
    text.length <= mostData ? text : `The data has ${text.length} characters: see the run before you decide.`
  return readable(about === '' ? cut(prompt, mostData).text : `${cut(prompt, mostData).text}\n\n${about}`)
}

const texts = ['title', 'description']
const keywords: Readonly<Record<string, readonly string[]>> = {
  string: [...texts, 'minLength', 'maxLength', 'format', 'enum', 'default'],
  number: [...texts, 'minimum', 'maximum', 'default'],
  integer: [...texts, 'minimum', 'maximum', 'default'],
  boolean: [...texts, 'default'],
}
const formats = ['email', 'uri', 'date', 'date-time']

/** The field of a form; undefined for a schema that a form can't have. */
function fieldOf(schema: Json | undefined): Form['properties'][string] | undefined {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return undefined
  const { type, format, enum: choices, ...rest } = schema
  if (typeof type !== 'string' || !Object.hasOwn(keywords, type)) return undefined
  const allowed = keywords[type] ?? []
  if (!Object.keys(rest).every((keyword) => allowed.includes(keyword))) return undefined
  if (format !== undefined && !(type === 'string' && formats.includes(String(format)))) return undefined
  const isList = Array.isArray(choices) && choices.every((choice) => typeof choice === 'string')
  if (choices !== undefined && !(type === 'string' && isList)) return undefined
  // Only the keywords of a form are left, with the types that the entity's own schema gives them.
  return schema as Form['properties'][string]
}

function formOf(schema: JsonObject): Form | undefined {
  const {
    type,
    properties,
    required,
    $schema: _,
    additionalProperties: _closed,
    title: _title,
    description: _text,
    ...rest
  } = schema
  if (type !== 'object' || typeof properties !== 'object' || properties === null || Array.isArray(properties))
    return undefined
  if (Object.keys(rest).length > 0) return undefined
  const fields = Object.entries(properties).map(([name, field]) => [name, fieldOf(field)] as const)
  if (fields.length === 0 || fields.some(([, field]) => field === undefined)) return undefined
  const needed = Array.isArray(required) ? required.filter((name) => typeof name === 'string') : []
  return {
    type: 'object',
    properties: Object.fromEntries(fields) as Form['properties'],
    ...(needed.length > 0 && { required: needed }),
  }
}

/**
 * What a person at the host has answered; undefined when one question has no answer: dismissed, left out, or of a wrong kind. To decline
 * an approval is an answer, to decline a question is none.
 */
export function answerOf(asked: readonly Asked[], responseTo: (key: string) => InputResponseView): Answer | undefined {
  const answer: Answer = {}
  const answers: Record<string, CallAnswer> = {}
  for (const one of asked) {
    const given = answerTo(one, responseTo(keyOf(one)))
    if (given === undefined) return undefined
    if (one.id === undefined) Object.assign(answer, given)
    else answers[one.id] = given
  }
  return Object.keys(answers).length > 0 ? { ...answer, answers } : answer
}

function answerTo({ as }: Asked, response: InputResponseView): Pick<CallAnswer, 'approved' | 'input'> | undefined {
  if (response.kind !== 'elicit') return undefined
  const { action, content = {} } = response
  if (as === 'approval') {
    if (action === 'decline') return { approved: false }
    return action === 'accept' && typeof content.approved === 'boolean' ? { approved: content.approved } : undefined
  }
  if (action !== 'accept') return undefined
  // It came as JSON; the entity's schema is checked where the run is resumed.
  const input = (as === 'input' ? content : content.answer) as Json | undefined
  return input === undefined ? undefined : { input }
}
