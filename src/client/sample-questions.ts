import { type Outline, sampleQuestions } from '../core/knowledge/sample-questions.ts'
import type { Chunk, Document } from '../wire/knowledge.ts'
import type { Client } from './client.ts'

export interface SampleOptions {
  /** Default: the default collection. */
  collection?: string | undefined
  signal?: AbortSignal | undefined
}

const wanted = 3
/** Documents whose headings are read, chunks of each, and questions that are tried. */
const most = { documents: 8, chunks: 30, tried: 9 }
const forNewcomers = /readme|index|intro|start|guide|faq/i

/**
 * At most three questions, made from the headings of the documents, that a search finds passages for. None while nothing is
 * ingested.
 */
export async function findSampleQuestions(
  { knowledge }: Pick<Client, 'knowledge'>,
  { collection, signal }: SampleOptions = {},
): Promise<string[]> {
  const { documents } = await knowledge.documents.list({ collection }, { limit: 100, signal })
  const outlines = await Promise.all(
    chosen(documents).map(async (document) => {
      const { chunks } = await knowledge.chunks(document.document_id, { limit: most.chunks, signal })
      return outlineOf(document, chunks)
    }),
  )
  const found: string[] = []
  for (const question of sampleQuestions(outlines).slice(0, most.tried)) {
    if (found.length === wanted) break
    const { results, trace } = await knowledge.search(question, { limit: 1, explain: true, collection }, { signal })
    const fits = trace?.fit === undefined || trace.fit.score >= trace.fit.threshold
    if (results.length > 0 && fits) found.push(question)
  }
  return found
}

/** Those for newcomers, then the others by name. */
function chosen(documents: readonly Document[]): Document[] {
  const rank = ({ source }: Document) => `${forNewcomers.test(source) ? 0 : 1}${source}`
  return documents.toSorted((one, other) => (rank(one) < rank(other) ? -1 : 1)).slice(0, most.documents)
}

function outlineOf({ source, reader_metadata }: Document, chunks: readonly Chunk[]): Outline {
  const { title } = reader_metadata
  const headings = chunks.flatMap(({ metadata: { heading_path: path } }) =>
    Array.isArray(path) && typeof path.at(-1) === 'string' ? (path.at(-1) as string) : [],
  )
  return { source, title: typeof title === 'string' ? title : undefined, headings: [...new Set(headings)] }
}
