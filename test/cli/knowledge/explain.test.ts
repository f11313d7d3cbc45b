import { expect, test } from 'vitest'
import { formatExplanation } from '../../../src/cli/knowledge/explain.ts'
import type { SearchAnswer } from '../../../src/wire/search.ts'

const place = { chunk_id: 'chk_1', document_id: 'doc_1', source: 'docs/a.md', line_start: 3, line_end: 9 }
const hit = {
  ...place,
  content: 'The office opens at nine.',
  metadata: {},
  chunk_index: 0,
  chunk_size: 1000,
  chunk_overlap: 100,
  chunker_type: 'markdown',
  start_offset: 0,
  end_offset: 25,
  score: 0.98,
  explain: {
    rank: 1,
    keyword_rank: 1,
    keyword_score: 0.7,
    vector_rank: 2,
    vector_score: 0.4,
    line: 4,
    text: 'The office \u001b[31mopens\u001b[0m at nine.',
    words: ['office', 'opens'],
    matches: ['office', 'opens'],
    lists: { keyword: { rank: 1, score: 0.7 }, lexical: { rank: 2, score: 0.4 } },
  },
} satisfies SearchAnswer['results'][number]
const answer: SearchAnswer = {
  results: [hit],
  count: 1,
  mode: 'hybrid',
  trace: {
    collection: 'default',
    words: ['office', 'opens'],
    candidates: [
      { ...place, rank: 1, score: 0.98, lists: hit.explain.lists },
      { ...place, chunk_id: 'chk_2', source: 'docs/\u009b31m.md', rank: 2, score: 0.5, lists: {} },
    ],
  },
}
const shown = (given: SearchAnswer, width?: number) =>
  `\n${formatExplanation('when does the office open', { limit: 6, filters: { topic: 'office' } }, given, width).join('\n')}\n`

test('shows how the search was made, every candidate with its lists, and why each passage was found', () => {
  expect(shown(answer)).toBe(`
  searched  when does the office open
            1 of 2 passages  hybrid  limit 6  collection default  filters {"topic":"office"}
  words     office opens
    #    RANK  SCORE  KEYWORD   LEXICAL   WHERE
    [1]  1     0.980  1 (0.70)  2 (0.40)  docs/a.md:3-9
    -    2     0.500  -         -         docs/.md:3-9

[1] docs/a.md:3
    words  office opens
    line 4: The office opens at nine.
`)
})

test('says whether the passages fit enough for an agent without a model, as the record of a run does', () => {
  const fit = {
    score: 0.714,
    threshold: 0.5,
    coverage: 0.8,
    similarity: 0.4,
    agreement: 0.6,
    lead: 0.2,
    chunks: 9,
    words: [],
  }
  const withFit = (score: number) => shown({ ...answer, trace: { ...answer.trace, fit: { ...fit, score } } as never })
  expect(withFit(0.714)).toContain(
    '\n  fit       0.71 (0.50 to be quoted)  coverage 0.80  similarity 0.40  agreement 0.60  lead 0.20\n    #',
  )
  expect(withFit(0.32)).toContain('\n  silent    The passages do not fit the question. (0.32, needed 0.50)\n')
})

test('fits narrow terminals, and says what an answer does not have', () => {
  for (const line of shown(answer, 40).split('\n').slice(4, 12)) expect(line.length).toBeLessThanOrEqual(40)
  const bare = { ...answer, results: [{ ...hit, explain: { ...hit.explain, matches: [], line: null } }] }
  expect(shown(bare)).toContain('    words  none of the words\n    The office opens at nine.\n')
  const { trace: _, ...old } = answer
  expect(shown(old)).toContain('1 of 1 passage ')
  expect(shown({ results: [], count: 0, mode: 'keyword' })).toContain('0 passages  keyword')
})

test('says what the search had to do without', () => {
  const skipped = [{ list: 'keyword', reason: 'It took \u001b[31mtoo long.' }]
  expect(shown({ ...answer, skipped })).toContain("\n  skipped   Without the list 'keyword': It took")
  expect(shown({ ...answer, skipped })).not.toContain('\u001b')
})
