import { isDeepStrictEqual } from 'node:util'
import { AppError, type ErrorDetail, isAppError } from '../../core/error.ts'
import type { InputRequired, RunEvent, RunResumedEvent, Stamp } from '../../core/event.ts'
import type { Json } from '../../core/json.ts'
import type { CallAnswer, WaitingKind } from '../../core/run.ts'
import { type Answer, answerTo, kindOf } from '../../core/waiting.ts'
import { compileJsonSchema } from '../../schema/json-schema.ts'
import { wrongRequest } from '../../schema/request.ts'

const fieldsOf: Record<WaitingKind, readonly (keyof CallAnswer)[]> = {
  approval: ['approved', 'input', 'reason'],
  input: ['input'],
  tool: ['output', 'error'],
}

/**
 * Throws `invalid_request` for an answer that names what is not asked for, is of the wrong kind or does not fit its schema,
 * and, if `complete`, for one that leaves anything open. All mistakes of one sort are told at once.
 */
export async function checkAnswer(
  requests: readonly InputRequired[],
  answer: Answer,
  complete: boolean,
): Promise<void> {
  const { approved, answers = {} } = answer
  const decisions = typeof approved === 'object' ? approved : {}
  const open = new Map(
    requests.flatMap((request) => (request.call_id === undefined ? [] : [[request.call_id, request]])),
  )
  refuse([
    ...Object.keys(decisions).flatMap((id) => misfitOf(`approved.${id}`, open.get(id), { approved: true })),
    ...Object.entries(answers).flatMap(([id, given]) => misfitOf(`answers.${id}`, open.get(id), given)),
  ])
  if (complete) refuseIncomplete(requests, answer)
  refuse((await Promise.all(requests.map((request) => misfitsOfInput(request, answer)))).flat())
}

/** What only other runs are asked is left out. */
export function answerOnlyTo(requests: readonly InputRequired[], { approved, input, answers }: Answer): Answer {
  const ids = new Set(requests.map(({ call_id }) => call_id))
  const own = <T>(byId: Readonly<Record<string, T>>) =>
    Object.fromEntries(Object.entries(byId).filter(([id]) => ids.has(id)))
  return {
    approved: typeof approved === 'object' ? own(approved) : approved,
    input,
    answers: answers && own(answers),
  }
}

function misfitOf(path: string, request: InputRequired | undefined, given: CallAnswer): ErrorDetail[] {
  if (request === undefined) return [{ path, message: 'is not among what the run is waiting for' }]
  const kind = kindOf(request)
  const allowed = fieldsOf[kind]
  const misfits = Object.entries(given).filter(([field, value]) => value !== undefined && !isIn(allowed, field))
  return misfits.map(([field]) => ({
    path: path.startsWith('answers.') ? `${path}.${field}` : path,
    message: `does not answer a request of kind '${kind}'; send ${allowed.map((name) => `\`${name}\``).join(' or ')}`,
  }))
}

function isIn(fields: readonly string[], field: string): boolean {
  return fields.includes(field)
}

function refuse(details: ErrorDetail[]): void {
  if (details.length > 0) throw wrongRequest(details)
}

function refuseIncomplete(requests: readonly InputRequired[], answer: Answer): void {
  const missing = requests.filter((request) => !isAnswered(request, answer))
  if (missing.length === 0) return
  const details = missing.map((request) => {
    const kind = kindOf(request)
    const { call_id: id, prompt } = request
    const byId = id !== undefined && (kind === 'tool' || answer.answers !== undefined)
    const path = byId ? `answers.${id}` : kind === 'approval' ? 'approved' : 'input'
    return { path, message: `The run is waiting for ${needs[kind]}${id === undefined ? '' : ` of '${id}'`}: ${prompt}` }
  })
  const message = details.map((detail) => detail.message).join(' ')
  throw new AppError('invalid_request', `${message} ${hintFor(missing)}`, { details })
}

const needs: Record<WaitingKind, string> = {
  approval: 'a decision',
  input: '`input`',
  tool: 'the `output` or `error`',
}

function hintFor(missing: readonly InputRequired[]): string {
  const examples = { approval: { approved: true }, input: { input: '…' }, tool: { output: '…' } } as const
  const byId = missing.flatMap((request) =>
    request.call_id === undefined ? [] : [[request.call_id, examples[kindOf(request)]] as const],
  )
  const kinds = new Set(missing.map(kindOf))
  if (byId.length < missing.length || (kinds.size === 1 && kinds.has('input'))) return 'Send {"input": …}.'
  const each = JSON.stringify({ answers: Object.fromEntries(byId) })
  return kinds.size === 1 && kinds.has('approval') ? `Send {"approved": true} or false, or ${each}.` : `Send ${each}.`
}

function isAnswered(request: InputRequired, answer: Answer): boolean {
  const { approved, input, output, error } = answerTo(request.call_id, answer)
  switch (kindOf(request)) {
    case 'approval':
      return approved !== undefined
    case 'tool':
      return (output === undefined) !== (error === undefined)
    case 'input':
      // One decision for everything is enough where no particular input is asked for.
      return input !== undefined || (request.schema === undefined && typeof answer.approved === 'boolean')
  }
}

async function misfitsOfInput(request: InputRequired, answer: Answer): Promise<ErrorDetail[]> {
  const { call_id: id, schema } = request
  const { approved, input } = answerTo(id, answer)
  if (schema === undefined || input === undefined || approved === false) return []
  const isOwn = id !== undefined && answer.answers !== undefined && Object.hasOwn(answer.answers, id)
  return misfits(schema, input, isOwn && answer.answers?.[id]?.input !== undefined ? `answers.${id}.input` : 'input')
}

async function misfits(
  schema: NonNullable<InputRequired['schema']>,
  input: Json,
  path: string,
): Promise<ErrorDetail[]> {
  try {
    return (await compileJsonSchema(schema, 'schema'))(input, path)
  } catch (error) {
    // An earlier version recorded any schema.
    if (isAppError(error) && error.code === 'invalid_request') return []
    throw error
  }
}

/** The resumption that gave this answer: the newest one, or the newest that had any answer. */
export function resumptionWith(answer: Answer, events: readonly RunEvent[]): (RunResumedEvent & Stamp) | undefined {
  const resumptions = events.filter((event) => event.type === 'run_resumed')
  const given = plain(answer)
  return [resumptions.at(-1), resumptions.findLast((event) => !isDeepStrictEqual(plain(event), {}))].find(
    (event) => event !== undefined && isDeepStrictEqual(plain(event), given),
  )
}

function plain({ approved, input, answers }: Answer): unknown {
  return JSON.parse(JSON.stringify({ approved, input, answers }))
}
