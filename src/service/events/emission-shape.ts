import type { EmittedEvent } from '../../core/event.ts'
import { searchModes } from '../../core/knowledge/knowledge.ts'
import { usageDetails, waitingKinds } from '../../core/run.ts'

type Kind =
  | 'text'
  | 'texts'
  | 'number'
  | 'integer'
  | 'json'
  | 'object'
  | 'failure'
  | 'usage'
  | 'usages'
  | 'hits'
  | 'mode'
  | 'abstained'
  | 'fit'
  | 'rerank'
  | 'skipped'
  | 'status'
  | 'true'
  | 'waiting'

interface Field {
  kind: Kind
  optional?: true
  nullable?: true
}

const text: Field = { kind: 'text' }
const json: Field = { kind: 'json' }
const duration: Field = { kind: 'number' }
const maybe = (kind: Kind): Field => ({ kind, optional: true })

/** The required and optional fields of each event. */
const fields: { [TYPE in EmittedEvent['type']]: Record<string, Field> } = {
  text_delta: { text },
  reasoning_delta: { text },
  data: { data: json },
  data_delta: { data: json },
  file: {
    media_type: text,
    name: maybe('text'),
    file_id: maybe('text'),
    size: maybe('integer'),
    url: maybe('text'),
  },
  model_call_start: {
    call_id: text,
    model: text,
    messages: maybe('json'),
    tools: maybe('json'),
    settings: maybe('object'),
    prompt: maybe('object'),
  },
  model_call_end: {
    call_id: text,
    model: maybe('text'),
    usage: { kind: 'usage', nullable: true },
    finish_reason: text,
    refused: maybe('true'),
    duration_ms: duration,
    first_text_ms: maybe('number'),
  },
  model_fallback: { call_id: text, from: text, to: text, reason: text },
  retrieval: {
    query: text,
    results: { kind: 'hits' },
    collection: maybe('text'),
    mode: maybe('mode'),
    limit: maybe('integer'),
    filters: maybe('object'),
    words: maybe('texts'),
    duration_ms: maybe('number'),
    fit: maybe('fit'),
    rerank: maybe('rerank'),
    skipped: maybe('skipped'),
    abstained: maybe('abstained'),
  },
  source: {
    index: { kind: 'integer' },
    source: text,
    document_id: text,
    chunk_id: text,
    line_start: maybe('integer'),
    line_end: maybe('integer'),
    page: maybe('integer'),
  },
  tool_call: { call_id: text, name: text, input: json },
  tool_result: {
    call_id: text,
    name: text,
    output: maybe('json'),
    error: maybe('failure'),
    denied: maybe('true'),
    duration_ms: duration,
  },
  tool_progress: { call_id: text, name: text, output: json },
  tool_input_delta: { call_id: text, name: text, text },
  input_required: {
    prompt: text,
    call_id: maybe('text'),
    child_run_id: maybe('text'),
    kind: maybe('waiting'),
    tool: maybe('text'),
    data: maybe('json'),
    schema: maybe('object'),
    after: maybe('text'),
    messages: maybe('json'),
  },
  step_start: {
    step_id: text,
    name: text,
    parent_id: maybe('text'),
    after: maybe('text'),
    child_run_id: maybe('text'),
    kind: maybe('text'),
  },
  step_end: {
    step_id: text,
    status: { kind: 'status' },
    output: maybe('json'),
    error: maybe('failure'),
    usage: maybe('usage'),
    usage_by_model: maybe('usages'),
    state: maybe('object'),
    duration_ms: duration,
  },
}

const isText = (value: unknown) => typeof value === 'string'
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function isUsage(value: unknown): value is Record<string, unknown> {
  if (!isObject(value)) return false
  const { input_tokens, output_tokens, total_tokens } = value
  const details = usageDetails.map((detail) => value[detail] ?? 0)
  return [input_tokens, output_tokens, total_tokens, ...details].every((count) => Number.isSafeInteger(count))
}

function isModelUsage(value: unknown): boolean {
  if (!isUsage(value)) return false
  const { model, largest_input_tokens: largest = 0, unreported_calls: unreported = 0 } = value
  return (model === null || isText(model)) && [largest, unreported].every(Number.isSafeInteger)
}

const isAbsentOr = (fits: (value: unknown) => boolean, value: unknown) => value === undefined || fits(value)

function isHit(hit: unknown): boolean {
  if (!isObject(hit) || !isText(hit.chunk_id) || !isText(hit.source) || !Number.isFinite(hit.score)) return false
  const { document_id, rank, lists, weight, line_start, line_end, page, told } = hit
  return (
    isAbsentOr(isText, document_id) &&
    [rank, line_start, line_end, page].every((value) => isAbsentOr(Number.isSafeInteger, value)) &&
    isAbsentOr(Number.isFinite, weight) &&
    isAbsentOr((value) => typeof value === 'boolean', told) &&
    isAbsentOr((value) => isObject(value) && Object.values(value).every(isPlace), lists)
  )
}

function isPlace(place: unknown): boolean {
  return isObject(place) && Number.isSafeInteger(place.rank) && Number.isFinite(place.score)
}

function isFit(fit: unknown): boolean {
  if (!isObject(fit) || !Array.isArray(fit.words)) return false
  return (
    [fit.score, fit.threshold, fit.coverage].every(Number.isFinite) &&
    [fit.similarity, fit.agreement, fit.lead].every((value) => isAbsentOr(Number.isFinite, value)) &&
    Number.isSafeInteger(fit.chunks) &&
    fit.words.every(
      (each) =>
        isObject(each) &&
        isText(each.word) &&
        Number.isSafeInteger(each.chunks) &&
        Number.isFinite(each.weight) &&
        isAbsentOr(isText, each.as),
    )
  )
}

const kinds: { [KIND in Kind]: readonly [words: string, fits: (value: unknown) => boolean] } = {
  text: ['a text', isText],
  texts: ['a list of texts', (value) => Array.isArray(value) && value.every(isText)],
  number: ['a number', (value) => typeof value === 'number'],
  integer: ['a whole number', Number.isSafeInteger],
  json: ['JSON', (value) => value !== undefined],
  object: ['an object', isObject],
  failure: ['{ message }', (value) => isObject(value) && isText(value.message)],
  usage: ['{ input_tokens, output_tokens, total_tokens } in whole numbers', isUsage],
  usages: [
    'a list of { model, input_tokens, output_tokens, total_tokens }',
    (value) => Array.isArray(value) && value.every(isModelUsage),
  ],
  hits: [
    'a list of { chunk_id, source, score } with valid `rank`, `lists`, `weight`, `told` and place',
    (value) => Array.isArray(value) && value.every(isHit),
  ],
  mode: ["'hybrid', 'vector' or 'keyword'", (value) => searchModes.some((mode) => mode === value)],
  abstained: [
    '{ reason, score, threshold }',
    (value) =>
      isObject(value) && isText(value.reason) && Number.isFinite(value.score) && Number.isFinite(value.threshold),
  ],
  skipped: [
    'a list of { list, reason }',
    (value) =>
      Array.isArray(value) && value.every((each) => isObject(each) && isText(each.list) && isText(each.reason)),
  ],
  fit: ['{ score, threshold, coverage, chunks, words } with valid parts', isFit],
  rerank: [
    '{ model, candidates, duration_ms }, perhaps with `skipped`',
    (value) =>
      isObject(value) &&
      isText(value.model) &&
      Number.isSafeInteger(value.candidates) &&
      Number.isFinite(value.duration_ms) &&
      (value.skipped === undefined || isText(value.skipped)),
  ],
  true: ['true', (value) => value === true],
  status: [
    "'completed', 'failed' or 'cancelled'",
    (value) => value === 'completed' || value === 'failed' || value === 'cancelled',
  ],
  waiting: ["'approval', 'input' or 'tool'", (value) => waitingKinds.some((kind) => kind === value)],
}

/** What is wrong with an event of this type, as the end of a sentence; undefined for a valid one. The event is JSON. */
export function problemOfEvent(type: EmittedEvent['type'], event: unknown): string | undefined {
  if (!isObject(event)) return 'that is not an object'
  for (const [name, { kind, optional, nullable }] of Object.entries(fields[type])) {
    const value = Object.hasOwn(event, name) ? event[name] : undefined
    if ((optional === true && value === undefined) || (nullable === true && value === null)) continue
    const [words, fits] = kinds[kind]
    if (!fits(value)) return value === undefined ? `without \`${name}\`` : `whose \`${name}\` is not ${words}`
  }
  if (event.kind === 'tool' && type === 'input_required' && event.call_id === undefined)
    return "of kind 'tool' without `call_id`"
  return undefined
}
