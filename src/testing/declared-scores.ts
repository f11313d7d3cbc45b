import { isDeepStrictEqual } from 'node:util'
import type { Json, JsonObject } from '../core/json.ts'
import { sourceMatcher } from '../core/knowledge/source-pattern.ts'
import type { AnswerToScore, DeclaredScorer, Scored, StandardSchema } from '../core/scoring/scorer.ts'
import { compileJsonSchema } from '../schema/json-schema.ts'

type Declared<KEY extends string> = Extract<DeclaredScorer, Record<KEY, unknown>>

/** Scores by what the scorer declares, without a model. */
export async function scoreDeclared(
  scorer: Exclude<DeclaredScorer, Declared<'judge'>>,
  answer: AnswerToScore,
): Promise<Scored> {
  if ('exact' in scorer) return scoreExact(answer)
  if ('contains' in scorer)
    return shareOf(scorer.contains, (text) => includesAnyCase(answer.text, text), 'does not contain')
  if ('cites' in scorer) {
    return shareOf(scorer.cites, (pattern) => answer.cited.some(sourceMatcher(pattern)), 'does not cite')
  }
  return scoreSchema(scorer.schema, answer)
}

function scoreExact({ text, data, expected }: AnswerToScore): Scored {
  const sameText = text.trim() === expected.content.trim()
  const sameData = isDeepStrictEqual(data ?? null, expected.data?.at(-1) ?? null)
  if (sameText && sameData) return { score: 1 }
  return { score: 0, reason: `the ${sameText ? 'data' : 'text'} is not that of the saved conversation` }
}

function shareOf(wanted: string | readonly string[], has: (one: string) => boolean, missing: string): Scored {
  const all = [wanted].flat()
  const absent = all.filter((one) => !has(one))
  const score = (all.length - absent.length) / all.length
  if (absent.length === 0) return { score }
  return {
    score,
    reason: `${missing} ${absent
      .slice(0, 3)
      .map((one) => `'${one.slice(0, 100)}'`)
      .join(', ')}`,
  }
}

function includesAnyCase(text: string, part: string): boolean {
  const plain = (one: string) => one.normalize('NFC').toLowerCase().replace(/\s+/g, ' ')
  return plain(text).includes(plain(part))
}

async function scoreSchema(schema: JsonObject | StandardSchema, { text, data }: AnswerToScore): Promise<Scored> {
  const value = data ?? parse(text)
  if (value === undefined) return { score: 0, reason: 'the answer has no data, and its text is not JSON' }
  const mistake = isStandard(schema) ? await mistakeByStandard(schema, value) : await mistakeBySchema(schema, value)
  return mistake === undefined ? { score: 1 } : { score: 0, reason: mistake }
}

function isStandard(schema: JsonObject | StandardSchema): schema is StandardSchema {
  return '~standard' in schema
}

async function mistakeBySchema(schema: JsonObject, value: Json): Promise<string | undefined> {
  const [mistake] = (await compileJsonSchema(schema, 'schema'))(value, 'data')
  return mistake && `${mistake.path} ${mistake.message}`
}

async function mistakeByStandard(schema: StandardSchema, value: Json): Promise<string | undefined> {
  const { issues } = (await schema['~standard'].validate(value)) as { issues?: readonly StandardIssue[] }
  const issue = issues?.[0]
  if (issue === undefined) return undefined
  const path = (issue.path ?? []).map((step) => String(typeof step === 'object' ? step.key : step))
  return `${['data', ...path].join('.')}: ${issue.message}`
}

interface StandardIssue {
  message: string
  path?: readonly (PropertyKey | { key: PropertyKey })[]
}

function parse(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}
