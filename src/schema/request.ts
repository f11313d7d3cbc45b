import type { z } from 'zod'
import { AppError, type ErrorDetail } from '../core/error.ts'
import { sentence } from './check.ts'

/** What is asked for, by its schema. Throws `invalid_request` with the paths of the fields that are wrong. */
export function checkRequest<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const details = new Map<string, ErrorDetail>()
  for (const issue of result.error.issues) {
    const detail = toDetail(issue)
    if (!details.has(detail.path)) details.set(detail.path, detail)
  }
  throw wrongRequest([...details.values()])
}

const maxDetails = 100
/** A caller may send any key. */
const maxPathCharacters = 500

/** One `invalid_request` for these, at most 100; each message follows its path. */
export function wrongRequest(all: readonly ErrorDetail[]): AppError {
  const details = all
    .slice(0, maxDetails)
    .map((detail) => ({ ...detail, path: detail.path.slice(0, maxPathCharacters) }))
  const message = details.map(({ path, message }) => (path === '' ? message : `${path} ${message}`)).join('; ')
  return new AppError('invalid_request', sentence(message), { details })
}

/** The fields that are not null: null counts as absent. */
export function withoutNulls(value: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== null))
}

/** For a union without a match, the error of the branch that matched furthest. */
function toDetail(issue: z.core.$ZodIssue): ErrorDetail {
  let path = issue.path
  let message = issue.message
  for (let at: z.core.$ZodIssue = issue; at.code === 'invalid_union'; ) {
    const deeper = at.errors.map((branch) => branch[0]).find((inner) => inner !== undefined && inner.path.length > 0)
    if (deeper === undefined) break
    path = [...path, ...deeper.path]
    message = deeper.message
    at = deeper
  }
  return { path: path.join('.'), message }
}
