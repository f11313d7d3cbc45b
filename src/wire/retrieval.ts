import { z } from 'zod'
import type { Fit as CoreFit, SkippedList } from '../core/knowledge/knowledge.ts'
import type { Reranking as CoreReranking, RetrievalHit as CoreRetrievalHit } from '../core/knowledge/retrieval.ts'
import { flag, jsonObject } from '../schema/request-field.ts'
import { component } from './document/component.ts'

export const RetrievalHit = component(
  'RetrievalHit',
  z.object({
    chunk_id: z.string(),
    source: z.string(),
    score: z.number().describe('0 to 1, higher is better.'),
    document_id: z.string().exactOptional(),
    rank: z.int().exactOptional().describe('From 1, in the order of the search.'),
    lists: z
      .record(z.string(), z.object({ rank: z.int(), score: z.number() }))
      .exactOptional()
      .describe('Its place in each list that the search put together: `keyword`, `lexical`, that of an embedder.'),
    weight: z.number().exactOptional(),
    line_start: z.int().exactOptional(),
    line_end: z.int().exactOptional(),
    page: z.int().exactOptional(),
    told: flag().exactOptional().describe('Whether the model was given it.'),
  }),
) satisfies z.ZodType<CoreRetrievalHit>

export const Fit = component(
  'Fit',
  z
    .object({
      score: z.number(),
      threshold: z.number().describe('Below it the passages are about something else.'),
      coverage: z.number().describe('The share of the query that one passage has; telling words count more.'),
      similarity: z.number().exactOptional().describe('The best cosine of the list `lexical`.'),
      agreement: z
        .number()
        .exactOptional()
        .describe('What the best of the keyword list and of the vectors have in common.'),
      lead: z.number().exactOptional().describe('How far the best is before the fifth, by all lists together.'),
      chunks: z.int().describe('How many chunks the collection has.'),
      words: z.array(
        z.object({
          word: z.string(),
          chunks: z.int().describe('How many chunks have it.'),
          weight: z.number(),
          as: z.string().exactOptional().describe('The word of a passage that counts for it.'),
        }),
      ),
    })
    .describe('How well the passages fit the whole query, from 0 to 1, and what that is made of.'),
) satisfies z.ZodType<CoreFit>

export const Reranking = component(
  'Reranking',
  z
    .object({
      model: z.string(),
      candidates: z.int().describe('How many passages it was given.'),
      duration_ms: z.number(),
      skipped: z.string().exactOptional().describe('Why their order was left as it was.'),
    })
    .describe(
      'How a cross-encoder ordered the best passages. Their places before and after are in the lists `fused` and `rerank`.',
    ),
) satisfies z.ZodType<CoreReranking>

export const Skipped = component(
  'SkippedLists',
  z
    .array(z.object({ list: z.string(), reason: z.string() }))
    .describe('Lists that a hybrid search had to do without, such as `keyword`, and why.'),
) satisfies z.ZodType<SkippedList[]>

/** What is recorded of a search besides its query and results. */
export const aboutRetrieval = {
  collection: z.string().exactOptional(),
  mode: z.enum(['hybrid', 'vector', 'keyword']).exactOptional(),
  limit: z.int().exactOptional(),
  filters: jsonObject().exactOptional(),
  words: z.array(z.string()).exactOptional().describe('What the keyword search looked for.'),
  duration_ms: z.number().exactOptional(),
  rerank: Reranking.exactOptional(),
  skipped: Skipped.exactOptional(),
  fit: Fit.exactOptional(),
  abstained: z
    .object({ reason: z.string(), score: z.number(), threshold: z.number() })
    .exactOptional()
    .describe('Why the agent says nothing from the knowledge base although the search found something.'),
}
