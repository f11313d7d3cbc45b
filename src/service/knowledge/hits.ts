import type { Collection, CurrentChunk, DocumentStore } from '../../core/knowledge/document-store.ts'
import type { Chunk, HitExplanation, SearchHit } from '../../core/knowledge/knowledge.ts'
import { keywordList } from '../../core/knowledge/lists.ts'
import { wordsOf } from '../../core/text/terms.ts'
import { placeIn, placesIn } from './fuse.ts'
import type { SearchSettings } from './input.ts'
import type { Found } from './search.ts'
import { stitch } from './stitch.ts'

/** A hit that repeats this share of an earlier one is dropped. */
const sharedPart = 0.5

/** A hit with the key of its chunk. */
export interface KeyedHit {
  key: number
  hit: SearchHit
}

/** The best matches, each stretch of a document once. */
export async function toHits(
  documents: DocumentStore,
  collection: Collection,
  found: Found,
  settings: SearchSettings,
): Promise<KeyedHit[]> {
  const { ranking } = found
  const hits: KeyedHit[] = []
  const shown = new Map<number, Stretch[]>()
  for (let at = 0; at < ranking.length && hits.length < settings.limit; ) {
    const next = ranking.slice(at, at + settings.limit)
    const chunks = await documents.current(
      collection.key,
      next.map((each) => each.chunk),
    )
    const byKey = new Map(chunks.map((chunk) => [chunk.key, chunk]))
    for (const { chunk: key, score } of next) {
      at++
      const chunk = byKey.get(key)
      if (!chunk || hits.length === settings.limit) continue
      const earlier = shown.get(chunk.generation) ?? []
      if (earlier.some((stretch) => repeats(chunk, stretch))) continue
      const stretch = await stretchOf(documents, chunk, settings.context)
      shown.set(chunk.generation, [...earlier, stretch])
      const hit = { ...toChunk(chunk, stretch), score: Math.max(0, Math.min(1, score)) }
      const rank = hits.length + 1
      hits.push({ key, hit: settings.explain ? { ...hit, explain: explain(hit, rank, key, found) } : hit })
    }
  }
  return hits
}

type Stretch = Pick<CurrentChunk, 'content' | 'startOffset' | 'endOffset' | 'lineStart' | 'lineEnd'>

function repeats(chunk: Stretch, earlier: Stretch): boolean {
  const shared = Math.min(chunk.endOffset, earlier.endOffset) - Math.max(chunk.startOffset, earlier.startOffset)
  return shared >= (chunk.endOffset - chunk.startOffset) * sharedPart
}

async function stretchOf(documents: DocumentStore, chunk: CurrentChunk, context: number): Promise<Stretch> {
  if (context === 0) return chunk
  return stitch(await documents.range(chunk.generation, chunk.index - context, chunk.index + context)) ?? chunk
}

/** `stretch`: the text to show in place of the chunk's own. */
export function toChunk(chunk: CurrentChunk, stretch: Stretch = chunk): Chunk {
  return {
    chunk_id: chunk.id,
    document_id: chunk.documentId,
    content: stretch.content,
    source: chunk.source,
    metadata: {
      ...(chunk.headingPath.length === 0 ? {} : { heading_path: chunk.headingPath }),
      ...chunk.metadata,
    },
    chunk_index: chunk.index,
    chunk_size: chunk.chunkSize,
    chunk_overlap: chunk.chunkOverlap,
    chunker_type: chunk.chunkerType,
    start_offset: stretch.startOffset,
    end_offset: stretch.endOffset,
    line_start: stretch.lineStart,
    line_end: stretch.lineEnd,
    ...(chunk.page === undefined ? {} : { page: chunk.page }),
  }
}

function explain(hit: SearchHit, rank: number, key: number, { lists, shown, embedder, words }: Found): HitExplanation {
  let best = { matches: -1, at: 0, text: '' }
  for (const [at, text] of hit.content.split('\n').entries()) {
    const inLine = new Set(wordsOf(text))
    const matches = words.filter((word) => inLine.has(word)).length
    if (text.trim() !== '' && matches > best.matches) best = { matches, at, text: text.trim() }
  }
  const own = new Set(wordsOf([hit.content, hit.metadata.heading_path ?? []].flat().join('\n')))
  const inKeyword = placeIn(lists, keywordList, key)
  const inVector = placeIn(lists, embedder, key)
  return {
    rank,
    keyword_rank: inKeyword?.rank ?? null,
    keyword_score: inKeyword?.score ?? null,
    vector_rank: inVector?.rank ?? null,
    vector_score: inVector?.score ?? null,
    line: hit.line_start === undefined ? null : hit.line_start + best.at,
    text: best.text,
    words,
    matches: words.filter((word) => own.has(word)),
    lists: placesIn(shown, key),
  }
}
