import { z } from 'zod'
import { type Filters, type filterOperators, filterProblem } from '../core/knowledge/filter.ts'
import { chunkerTypes, searchModes } from '../core/knowledge/knowledge.ts'
import {
  collectionPattern,
  collectionWords,
  defaultChunkSize,
  knowledgeLimits as limits,
} from '../core/knowledge/limits.ts'
import { flag, integer, jsonObject, oneOf, said, text } from './request-field.ts'

const mustBeCollection = said(`must be ${collectionWords}`)
export const collection = z.string(mustBeCollection).regex(collectionPattern, mustBeCollection).optional()
export const collectionSetting = z.object({ collection })

export function notBlank(max?: number): z.ZodString {
  return text(1, max).refine((value) => value.trim() !== '', { error: 'must not be empty' })
}

const scalars = [{ type: 'string' }, { type: 'number' }, { type: 'boolean' }]
const scalar = { anyOf: scalars }
const scalarList = { type: 'array', items: scalar }
const bound = { type: ['number', 'string'], description: 'A number or an ISO date.' }
const operators = {
  type: 'object',
  additionalProperties: false,
  minProperties: 1,
  properties: {
    eq: scalar,
    in: scalarList,
    gt: bound,
    gte: bound,
    lt: bound,
    lte: bound,
    prefix: { type: 'string', minLength: 1, description: 'The text itself, or a path above it.' },
    ne: scalar,
    not_in: scalarList,
    exists: { type: 'boolean' },
  },
} satisfies { properties: Record<(typeof filterOperators)[number], object> } & Record<string, unknown>

/** Its name in the OpenAPI document, since filters may have filters inside. */
export const filtersName = 'Filters'
const reference = { $ref: `#/components/schemas/${filtersName}` }
const group = { type: 'array', minItems: 1, items: reference }
/** Keys of metadata may be called `and`, `or` and `not`: then they have values. */
const values = [...scalars, scalarList]

export const filters = z
  .custom<Filters>()
  .superRefine((value, context) => {
    const problem = filterProblem(value)
    if (problem) context.addIssue({ code: 'custom', ...problem })
  })
  .meta({
    description:
      'Filters on your metadata and on `source`, `document_id` and `chunker_type`. All must match; of a list, one value must match. ' +
      '`and`, `or` and `not` have filters inside.',
    type: 'object',
    properties: {
      and: { anyOf: [group, ...scalars, { ...scalarList, minItems: 1 }] },
      or: { anyOf: [group, ...scalars, { ...scalarList, minItems: 1 }] },
      not: { anyOf: [reference, ...values] },
    },
    additionalProperties: { anyOf: [...values, operators] },
  })

export const searchSettings = z.object({
  query: notBlank(limits.query),
  limit: integer(1, limits.search).default(10),
  filters: filters.optional(),
  mode: oneOf(searchModes).optional(),
  context: integer(0, limits.context)
    .optional()
    .describe('The number of neighbouring chunks to add around each result.'),
  collection,
  explain: flag().optional().describe('Explain the rank of each result, and how the search came to its results.'),
})

export const chunkSettings = z.object({
  context: integer(0, limits.context)
    .default(0)
    .describe('The number of chunks before and after it. They are fewer if they have more than 1 MB together.'),
})

const metadataWords = `must have at most ${limits.metadata} characters of JSON`
export const documentFields = {
  name: notBlank(limits.label).optional().describe('A file name. Its extension selects the reader.'),
  source: notBlank(limits.label)
    .optional()
    .describe("The document's identity. A new document with the same source replaces it."),
  metadata: jsonObject()
    .refine((value) => JSON.stringify(value).length <= limits.metadata, { error: metadataWords })
    .optional(),
  chunker_type: oneOf(chunkerTypes).optional(),
  chunk_size: integer(1, limits.chunkSize).optional().describe(`Characters, 1 to ${limits.chunkSize}.`),
  chunk_overlap: integer(0, limits.chunkOverlap)
    .optional()
    .describe('Less than `chunk_size`; default: a tenth of it, at most 100.'),
  collection,
}

/** These fields, with the rule between the sizes. */
export function documentSettings<S extends z.core.$ZodLooseShape>(fields: S) {
  const fits = (sizes: { chunk_size?: unknown; chunk_overlap?: unknown }) =>
    !(Number(sizes.chunk_overlap) >= Number(sizes.chunk_size))
  return z.object(fields).refine(fits, { path: ['chunk_overlap'], error: 'must be less than chunk_size' })
}

/** What the library is given with the content of a document. */
export const ingestSettings = documentSettings({
  ...documentFields,
  media_type: notBlank(limits.label).optional(),
  chunk_size: documentFields.chunk_size.unwrap().default(defaultChunkSize),
})
