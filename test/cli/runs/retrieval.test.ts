import { describe, expect, it } from 'vitest'
import { formatCounts } from '../../../src/cli/runs/counts.ts'
import { formatRetrieval } from '../../../src/cli/runs/retrieval.ts'
import type { TracedPassage, TracedRetrieval } from '../../../src/core/events/trace.ts'

function passage(rank: number, index: number | null, more: Partial<TracedPassage> = {}): TracedPassage {
  return {
    chunk_id: `chk_${rank}`,
    document_id: 'doc_1',
    source: 'docs/guides/getting-started.md',
    score: 1 / rank,
    rank,
    lists: { keyword: { rank, score: 0.7 }, ...(rank === 2 ? {} : { lexical: { rank: rank + 1, score: 0.4 } }) },
    line_start: rank * 10,
    line_end: rank * 10 + 4,
    told: index !== null,
    index,
    ...more,
  }
}

const search: TracedRetrieval = {
  query: 'How do I set the port?',
  collection: 'default',
  mode: 'hybrid',
  limit: 2,
  filters: { lang: 'en' },
  words: ['set', 'port'],
  duration_ms: 3.4,
  passages: [passage(1, 1), passage(2, 2), passage(3, null)],
}
const shown = (retrieval: TracedRetrieval, width?: number) => `\n${formatRetrieval(retrieval, width).join('\n')}\n`

describe('a search', () => {
  it.each([120, 80, undefined])('has one row per passage in %s columns', (width) => {
    expect(shown(search, width)).toBe(`
  searched  How do I set the port?
            2 of 3 passages  3 ms  hybrid  limit 2  collection default  filters {"lang":"en"}
  words     set port
    #    RANK  SCORE  KEYWORD   LEXICAL   WHERE
    [1]  1     1.000  1 (0.70)  2 (0.40)  docs/guides/getting-started.md:10-14
    [2]  2     0.500  2 (0.70)  -         docs/guides/getting-started.md:20-24
    -    3     0.333  3 (0.70)  4 (0.40)  docs/guides/getting-started.md:30-34
`)
  })

  it('has a list per passage where a row does not fit', () => {
    const lines = formatRetrieval({ ...search, passages: [passage(1, 1)] }, 40)
    expect(lines.slice(3)).toEqual([
      '    [1]',
      '      rank: 1',
      '      score: 1.000',
      '      keyword: 1 (0.70)',
      '      lexical: 2 (0.40)',
      '      where: docs/guides/getting-starte…',
    ])
    for (const line of lines.slice(3)) expect(line.length).toBeLessThanOrEqual(40)
  })

  it('says how it was reranked, or why not', () => {
    const rerank = { model: 'tiny/cross', candidates: 20, duration_ms: 31 }
    expect(shown({ ...search, rerank })).toContain('\n  reranked  20 passages by tiny/cross in 31 ms\n')
    const one = shown({ ...search, rerank: { ...rerank, candidates: 1 } })
    expect(one).toContain('\n  reranked  1 passage by tiny/cross in 31 ms\n')
    const skipped = "The reranker can't be used: \u001b[31mnot there."
    expect(shown({ ...search, rerank: { ...rerank, skipped } })).toContain(
      "\n  reranked  no: The reranker can't be used: not there.\n",
    )
  })

  it('says why nothing was quoted', () => {
    const abstained = { reason: 'The best passage does not fit the question.', score: 0.121, threshold: 0.34 }
    expect(shown({ ...search, abstained, passages: [passage(1, null)] })).toContain(
      '\n  silent    The best passage does not fit the question. (0.12, needed 0.34)\n',
    )
  })

  it('says how well the passages fit, and which words are rare or nowhere', () => {
    const words = [
      { word: 'port', chunks: 30, weight: 3 },
      { word: 'kubernets', chunks: 0, weight: 6, as: 'kubernetes' },
    ]
    const fit = { score: 0.456, threshold: 0.6, coverage: 0.4, similarity: 0.2, agreement: 0.6, chunks: 751, words }
    expect(shown({ ...search, fit, passages: [] })).toContain(
      '\n  fit       0.46 (0.60 to be quoted)  coverage 0.40  similarity 0.20  agreement 0.60\n' +
        '            of 751 chunks: kubernets (kubernetes) 0, port 30\n',
    )
    const bare = { score: 1, threshold: 0.6, coverage: 1, chunks: 1, words: [] }
    expect(shown({ ...search, fit: bare, passages: [] })).toContain(
      '\n  fit       1.00 (0.60 to be quoted)  coverage 1.00\n',
    )
  })

  it('shows what an older record has, and says that it has no more', () => {
    const bare = (index: number | null) => ({ chunk_id: 'chk_1', source: 'a.md', score: 0.5, index })
    const placed = { ...bare(1), document_id: 'doc_1', line_start: 3, line_end: 4 }
    expect(shown({ query: 'port', passages: [placed, bare(null)] })).toBe(`
  searched  port
            2 passages
    #    SCORE  WHERE
    [1]  0.500  a.md:3-4
    -    0.500  a.md
    (an older record: it has no more of this search)
`)
  })

  it('writes no control characters of a source, a query, a word or the name of a list', () => {
    const evil = '\u001b]0;owned\u0007\u001b[2J\n\u202e'
    const lists = { [evil]: { rank: 1, score: 1 }, ['__proto__']: { rank: 2, score: 1 } }
    const abstained = { reason: evil, score: 0, threshold: 1 }
    const text = formatRetrieval(
      {
        query: evil,
        words: [evil],
        collection: evil,
        filters: { [evil]: evil },
        abstained,
        fit: { ...abstained, coverage: 0, chunks: 1, words: [{ word: evil, chunks: 0, weight: 1, as: evil }] },
        passages: [passage(1, null, { source: evil, lists })],
      },
      120,
    ).join('\n')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these must not be there
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/)
  })

  it('has columns for a few lists only, however many were recorded', () => {
    const lists = Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`list${at}`, { rank: 1, score: 1 }]))
    const lines = formatRetrieval({ ...search, passages: [passage(1, 1, { lists })] }, undefined)
    expect(lines.find((line) => line.includes('LIST'))?.match(/LIST\d+/g)).toHaveLength(6)
  })
})

it('a search in short says what was given of what was found, and how long it took', () => {
  expect(formatCounts(search.passages, 12.3)).toBe('2 of 3 passages  12 ms')
  expect(formatCounts([{ chunk_id: 'c', source: 's', score: 1 }], undefined)).toBe('1 passage')
})
