import { problemOfModels } from '../model.ts'
import { nearest } from '../text/nearest.ts'
import { scorerKinds } from './scorer.ts'

const longestText = 20_000
const mostTexts = 100
const allowed = [...scorerKinds, 'passAt', 'model'] as const
const oneOfKinds = `one of ${scorerKinds.join(', ')}`

/** What is wrong with a scorer of a config, in words that follow its path; undefined when it is sound. */
export function problemOfScorer(value: unknown): string | undefined {
  return typeof value === 'function' ? undefined : problemOfDeclaredScorer(value)
}

/** The same for one of a test file, which has no functions. */
export function problemOfDeclaredScorer(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return `must be a scorer: an object with ${oneOfKinds}`
  }
  const given = value as Readonly<Record<string, unknown>>
  const kinds = scorerKinds.filter((kind) => kind in given)
  const unknown = Object.keys(given).find((key) => !(allowed as readonly string[]).includes(key))
  if (unknown !== undefined)
    return `has the unknown key '${unknown}'; did you mean '${nearest(unknown, allowed) ?? allowed[0]}'?`
  if (kinds.length !== 1) return `must have ${kinds.length === 0 ? oneOfKinds : `only one of ${kinds.join(' and ')}`}`
  if ('model' in given && kinds[0] !== 'judge') return 'has a `model`, which only a judge needs'
  const { passAt } = given
  if (passAt !== undefined && !(typeof passAt === 'number' && passAt >= 0 && passAt <= 1)) {
    return 'has a `passAt` that is no number from 0 to 1'
  }
  return problemOfKind(given)
}

function problemOfKind({
  exact,
  contains,
  schema,
  cites,
  judge,
  model,
}: Readonly<Record<string, unknown>>): string | undefined {
  if (exact !== undefined && exact !== true) return 'must have `exact: true`'
  if (contains !== undefined && !isTexts(contains)) return `must have \`contains\` with ${someTexts}`
  if (cites !== undefined && !isTexts(cites))
    return `must have \`cites\` with ${someTexts}: names or patterns of sources`
  if (schema !== undefined && ((typeof schema !== 'object' && typeof schema !== 'function') || schema === null)) {
    return 'must have `schema` with a JSON schema or a schema of zod'
  }
  if (judge !== undefined && !isText(judge))
    return `must have \`judge\` with a prompt of 1 to ${longestText} characters`
  const problem = model === undefined ? undefined : problemOfModels(model)
  return problem === undefined ? undefined : `has a \`model\` that is none: ${problem}`
}

const someTexts = `a text, or 1 to ${mostTexts} texts`

function isTexts(value: unknown): boolean {
  if (!Array.isArray(value)) return isText(value)
  return value.length > 0 && value.length <= mostTexts && value.every(isText)
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value.trim() !== '' && value.length <= longestText
}
