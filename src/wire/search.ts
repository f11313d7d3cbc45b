import { z } from 'zod'
import type { SearchHit as CoreHit, SearchTrace as CoreTrace } from '../core/knowledge/knowledge.ts'
import { searchModes } from '../core/knowledge/knowledge.ts'
import { filters, filtersName, searchSettings } from '../schema/knowledge.ts'
import { component } from './document/component.ts'
import { chunk } from './knowledge.ts'
import { Fit, Reranking, Skipped } from './retrieval.ts'

export const Filters = component(filtersName, filters)

export const SearchRequest = component('SearchRequest', searchSettings)
export type SearchRequest = z.input<typeof SearchRequest>

export const SearchQuery = z.object({ explain: z.boolean().optional().describe('The same as the field in the body.') })

const listPlaces = z
  .record(z.string(), z.object({ rank: z.int(), score: z.number() }))
  .describe('Its place in each list that the search put together: `keyword`, `lexical`, that of an embedder.')

export const SearchHit = component(
  'SearchHit',
  z.object({
    ...chunk,
    score: z.number().describe('0 to 1, higher is better.'),
    explain: z
      .object({
        rank: z.int(),
        keyword_rank: z.int().nullable(),
        keyword_score: z.number().nullable(),
        vector_rank: z.int().nullable(),
        vector_score: z.number().nullable(),
        line: z.int().nullable().describe('The line with the most words of the query.'),
        text: z.string(),
        words: z
          .array(z.string())
          .describe('The words that were searched for, including similar words for misspelt ones.'),
        matches: z.array(z.string()).describe('Those of the words that the passage or the headings above it have.'),
        lists: listPlaces,
      })
      .exactOptional(),
  }),
) satisfies z.ZodType<CoreHit>

const SearchTrace = component(
  'SearchTrace',
  z.object({
    collection: z.string(),
    words: z.array(z.string()).describe('What the keyword search looked for.'),
    candidates: z
      .array(
        z.object({
          chunk_id: z.string(),
          document_id: z.string(),
          source: z.string(),
          rank: z.int().describe('From 1, before repetitions of better results are left out.'),
          score: z.number().describe('0 to 1, higher is better.'),
          lists: listPlaces,
          weight: z.number().exactOptional().describe('What its score was multiplied by, unless it is 1.'),
          line_start: z.int().exactOptional(),
          line_end: z.int().exactOptional(),
          page: z.int().exactOptional(),
        }),
      )
      .describe('The results, and what else was found, 20 in all unless there are more results.'),
    fit: Fit.exactOptional(),
    rerank: Reranking.exactOptional(),
  }),
) satisfies z.ZodType<CoreTrace>

export const SearchAnswer = component(
  'SearchAnswer',
  z.object({
    results: z.array(SearchHit),
    count: z.int(),
    mode: z.enum(searchModes),
    skipped: Skipped.exactOptional(),
    trace: SearchTrace.exactOptional().describe('How the search came to its results. Only with `explain`.'),
  }),
)
export type SearchAnswer = z.infer<typeof SearchAnswer>
