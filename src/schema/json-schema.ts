import { createContext, Script } from 'node:vm'
import type { Ajv, ErrorObject, Options } from 'ajv'
import { AppError, type ErrorDetail } from '../core/error.ts'
import type { JsonObject } from '../core/json.ts'
import { wrongRequest } from './request.ts'

/** What is wrong with a value, with paths below `root`; empty when the value fits. At most 20 details. */
export type JsonSchemaCheck = (value: unknown, root: string) => ErrorDetail[]

const maxDetails = 20
/** A hostile `pattern` or recursion would otherwise block the process. */
const maxMs = 1000

const draft7 = /^https?:\/\/json-schema\.org\/draft-0[67]\/schema#?$/
const draft2020 = /^https?:\/\/json-schema\.org\/draft\/20(19-09|20-12)\/schema#?$/

/**
 * The check of values against a JSON schema: draft 2020-12, or draft-07 if `$schema` says so or the schema fits only that
 * draft. `format` is not enforced, and other documents are not fetched. Throws `invalid_request` with paths below `path`
 * for what is no JSON schema.
 */
export async function compileJsonSchema(schema: JsonObject, path: string): Promise<JsonSchemaCheck> {
  const { draft, rest } = await fittingDraft(schema, path)
  try {
    // An instance of its own, so that the `$id`s of one schema are unknown to all others.
    const validate = inTime(() => draft.create().compile(rest))
    return (value, root) => {
      try {
        return inTime(() => validate(value)) ? [] : toDetails(validate.errors, root)
      } catch (error) {
        return [{ path: root, message: `can't be checked against its JSON schema: ${reasonOf(error)}` }]
      }
    }
  } catch (error) {
    throw unusable(error, path)
  }
}

/** Throws as `compileJsonSchema` for what is no JSON schema, without the work of compiling it. */
export async function assertJsonSchema(schema: JsonObject, path: string): Promise<void> {
  await fittingDraft(schema, path)
}

async function fittingDraft(schema: JsonObject, path: string): Promise<{ draft: Draft; rest: JsonObject }> {
  const drafts = await loadDrafts()
  const wanted = schema.$schema
  if (wanted !== undefined && !(typeof wanted === 'string' && (draft7.test(wanted) || draft2020.test(wanted)))) {
    throw wrongRequest([{ path: `${path}.$schema`, message: 'must be that of JSON Schema draft 2020-12 or draft-07' }])
  }
  // Ajv's own `$async` would give a promise, which is no verdict.
  const { $schema: _draft, $async: _async, ...rest } = schema
  const candidates =
    wanted === undefined
      ? [drafts.draft2020, drafts.draft7]
      : [draft7.test(String(wanted)) ? drafts.draft7 : drafts.draft2020]
  let mistakes: ErrorDetail[] | undefined
  for (const draft of candidates) {
    try {
      if (inTime(() => draft.meta.validateSchema(rest))) return { draft, rest }
    } catch (error) {
      throw unusable(error, path)
    }
    mistakes ??= toDetails(draft.meta.errors, path)
  }
  throw wrongRequest(mistakes ?? [{ path, message: 'must be a JSON schema' }])
}

function unusable(error: unknown, path: string): AppError {
  return wrongRequest([{ path, message: `is no usable JSON schema: ${reasonOf(error)}` }])
}

interface Draft {
  /** Only checks schemas. */
  meta: Ajv
  create: () => Ajv
}

const options: Options = { strict: false, validateFormats: false, allErrors: true, logger: false, addUsedSchema: false }
const unchecked: Options = { ...options, meta: false, validateSchema: false }
let loading: Promise<{ draft7: Draft; draft2020: Draft }> | undefined

function loadDrafts(): Promise<{ draft7: Draft; draft2020: Draft }> {
  loading ??= Promise.all([import('ajv'), import('ajv/dist/2020.js')]).then(([{ Ajv }, { Ajv2020 }]) => ({
    draft7: { meta: new Ajv(options), create: () => new Ajv(unchecked) },
    draft2020: { meta: new Ajv2020(options), create: () => new Ajv2020(unchecked) },
  }))
  return loading
}

const sandbox: { work?: (() => unknown) | undefined } = createContext({})
const script = new Script('work()')

/** Runs synchronous work that may take too long. Throws when it is stopped. */
function inTime<T>(work: () => T): T {
  sandbox.work = work
  try {
    return script.runInContext(sandbox, { timeout: maxMs }) as T
  } finally {
    sandbox.work = undefined
  }
}

function reasonOf(error: unknown): string {
  const { code, message } = error as { code?: unknown; message?: unknown }
  if (code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return `it takes longer than ${maxMs} ms`
  if (error instanceof RangeError) return 'it is too deep'
  if (error instanceof AppError) throw error
  return String(message).replace(/\s+/g, ' ').slice(0, 300)
}

function toDetails(errors: readonly ErrorObject[] | null | undefined, root: string): ErrorDetail[] {
  const details = new Map<string, ErrorDetail>()
  for (const error of errors ?? []) {
    const detail = toDetail(error, root)
    if (detail !== undefined) details.set(`${detail.path} ${detail.message}`, detail)
    if (details.size === maxDetails) break
  }
  return [...details.values()]
}

function toDetail({ keyword, instancePath, params, message }: ErrorObject, root: string): ErrorDetail | undefined {
  const keys = instancePath.split('/').slice(1)
  const at = (...more: unknown[]) =>
    [root, ...keys.map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~')), ...more.map(String)].join('.')
  switch (keyword) {
    case 'required':
      return { path: at(params.missingProperty), message: 'is required' }
    case 'additionalProperties':
      return { path: at(params.additionalProperty), message: 'is not allowed' }
    case 'unevaluatedProperties':
      return { path: at(params.unevaluatedProperty), message: 'is not allowed' }
    case 'enum':
      return { path: at(), message: `must be one of ${shortJson(params.allowedValues).slice(1, -1)}` }
    case 'const':
      return { path: at(), message: `must be ${shortJson(params.allowedValue)}` }
    case 'type':
      return { path: at(), message: `must be ${[params.type].flat().join(' or ')}` }
    case 'if':
      // What the branch says is an error of its own.
      return undefined
    default:
      return { path: at(), message: message ?? 'does not fit its JSON schema' }
  }
}

function shortJson(value: unknown): string {
  const text = JSON.stringify(value)
  return text.length <= 200 ? text : `${text.slice(0, 200)}…`
}
