import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { SearchHit, SearchMode } from '../../src/core/knowledge/knowledge.ts'
import { findQuotes } from '../../src/models/quote.ts'
import { around } from '../../src/runnables/agent/around.ts'
import { findSources } from '../../src/sources/find.ts'
import { Connection } from '../../src/store/sqlite/connection.ts'
import { knowledgeFolder } from '../../test/support/knowledge/folder.ts'
import { measureRanks, ranksTable, readRanks, saveRanks } from './measure.ts'
import { type Question, type QuestionKind, questions } from './questions.ts'

/*
 * How well passages are found and quoted: `node bench/retrieval/run.ts`; `--misses` shows what was not first. `--save FILE`
 * keeps the ranks; `--against FILE` compares with those of another version, question by question.
 */

const root = join(import.meta.dirname, '..', '..')
const folders = [
  'docs',
  'README.md',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'test/fixtures/docs',
  'bench/retrieval/corpus',
]
const depth = 10

export interface Figures {
  questions: number
  first: number
  firstFive: number
  mrr: number
}

export interface RetrievalReport {
  modes: Record<SearchMode | 'bm25', Figures & { byKind: Record<string, Figures> }>
  /** Of the questions that have an answer: the quotes hold it, the passages hold the quotes byte for byte, lines are right. */
  answered: number
  exactQuotes: number
  rightLines: number
  quotes: number
  /** Of the questions without one: those to which nothing was quoted. */
  abstained: number
  withoutAnswer: number
  /** Expected words that no document has any more. */
  stale: string[]
  misses: string[]
}

export async function measureRetrieval(): Promise<RetrievalReport> {
  const place = await knowledgeFolder()
  try {
    const knowledge = await place.open()
    const texts = new Map<string, string>()
    for (const source of await findSources(root, folders)) texts.set(source, await readFile(join(root, source), 'utf8'))
    const items = [...texts].map(([source, content]) => ({ source, name: source, content }))
    await knowledge.ingestMany(items)
    const asked = questions.filter(([kind]) => kind !== 'none')
    const search = async (query: string, mode: SearchMode) =>
      (await knowledge.search({ query, mode, limit: depth })).results
    const plain = await plainBm25(texts)
    const misses: string[] = []
    const ranks = async (mode: SearchMode | 'bm25') => {
      const found: [QuestionKind, number][] = []
      for (const question of asked) {
        const hits = mode === 'bm25' ? await plain.search(question[1]) : await search(question[1], mode)
        const rank = rankOf(hits, question)
        found.push([question[0], rank])
        if (rank !== 1 && mode !== 'bm25') misses.push(`${mode} ${rank || '-'} ${question[0]}: ${question[1]}`)
      }
      const byKind = Object.groupBy(found, ([kind]) => kind)
      const kinds = Object.entries(byKind).map(([kind, all = []]) => [kind, toFigures(all.map(([, rank]) => rank))])
      return { ...toFigures(found.map(([, rank]) => rank)), byKind: Object.fromEntries(kinds) }
    }
    const modes = {
      bm25: await ranks('bm25'),
      keyword: await ranks('keyword'),
      vector: await ranks('vector'),
      hybrid: await ranks('hybrid'),
    }
    const report = { modes, answered: 0, exactQuotes: 0, rightLines: 0, quotes: 0, abstained: 0, withoutAnswer: 0 }
    for (const question of questions) {
      const { results, trace } = await knowledge.search({ query: question[1], limit: 6, trace: true })
      const { quotes } = await findQuotes(question[1], results, { fit: trace?.fit, widen: around(knowledge) })
      if (question[0] === 'none') {
        report.withoutAnswer++
        if (quotes.length === 0) report.abstained++
        else misses.push(`quoted for nothing: ${question[1]} → ${quotes[0]?.text.slice(0, 80)}`)
        continue
      }
      if (quotes.some(({ hit, text }) => hit.source === question[2] && covers(hit, text, question))) report.answered++
      else misses.push(`answer ${quotes.length === 0 ? 'none' : 'other'} ${question[0]}: ${question[1]}`)
      for (const { hit, text, line } of quotes) {
        const source = texts.get(hit.source) ?? ''
        report.quotes++
        if (source.includes(text)) report.exactQuotes++
        const first = text.split('\n', 1)[0] ?? ''
        if (source.split('\n')[(line ?? 0) - 1]?.includes(first)) report.rightLines++
      }
    }
    await plain.close()
    const stale = asked.filter(([, , source = '', answer = '']) => !texts.get(source)?.includes(answer))
    return { ...report, stale: stale.map(([, question]) => question), misses }
  } finally {
    await place.remove()
  }
}

/** A quote answers when it holds the words, or stands in the block of the passage that does. */
function covers(hit: SearchHit, quote: string, [, , , answer = '']: Question): boolean {
  if (quote.includes(answer)) return true
  return hit.content.split(/\n\s*\n/).some((block) => block.includes(answer) && block.includes(quote))
}

/** What anybody gets from a full-text index in an afternoon: pieces of 1,000 characters, any of the words, BM25. */
async function plainBm25(texts: ReadonlyMap<string, string>) {
  const connection = await Connection.open({ path: ':memory:', readonly: false, busyTimeoutMs: 0 })
  await connection.exec('CREATE VIRTUAL TABLE piece USING fts5(content, source UNINDEXED)')
  for (const [source, text] of texts) {
    for (const [content] of text.matchAll(/[\s\S]{1,1000}/g))
      await connection.run('INSERT INTO piece VALUES (?, ?)', [content, source])
  }
  return {
    async search(query: string): Promise<Passage[]> {
      const words = query.match(/[\p{L}\p{N}_]+/gu) ?? []
      const match = words.map((word) => `"${word}"`).join(' OR ')
      const rows = await connection.all(
        `SELECT content, source FROM piece WHERE piece MATCH ? ORDER BY rank LIMIT ${depth}`,
        [match],
      )
      return rows.map((row) => ({ content: String(row.content), source: String(row.source) }))
    },
    close: () => connection.close(),
  }
}

type Passage = Pick<SearchHit, 'content' | 'source'>

function rankOf(hits: readonly Passage[], [, , source, answer = '']: Question): number {
  return hits.findIndex((hit) => hit.source === source && hit.content.includes(answer)) + 1
}

function toFigures(ranks: readonly number[]): Figures {
  const share = (test: (rank: number) => boolean) => ranks.filter(test).length / ranks.length
  const mrr = ranks.reduce((sum, rank) => sum + (rank === 0 ? 0 : 1 / rank), 0) / ranks.length
  return { questions: ranks.length, first: share((rank) => rank === 1), firstFive: share((r) => r > 0 && r <= 5), mrr }
}

if (import.meta.main) {
  const { values: options } = parseArgs({
    options: { misses: { type: 'boolean' }, save: { type: 'string' }, against: { type: 'string' } },
  })
  const earlier = options.against === undefined ? undefined : await readRanks(options.against)
  const notes: string[] = []
  const ranks = await measureRanks((line) => notes.push(line))
  if (options.save !== undefined) await saveRanks(options.save, ranks)
  console.log(`${ranksTable(ranks, earlier)}\n`)
  const report = await measureRetrieval()
  const kinds = ['words', 'paraphrase', 'identifier', 'typo']
  const row = ({ first, firstFive, mrr }: Figures) => `${first.toFixed(3)} ${firstFive.toFixed(3)} ${mrr.toFixed(3)}`
  console.log(`mode     hits@1 hits@5 MRR     MRR of ${kinds.join(', ')}`)
  for (const [mode, figures] of Object.entries(report.modes)) {
    const each = kinds.map((kind) => figures.byKind[kind]?.mrr.toFixed(3)).join(' ')
    console.log(`${mode.padEnd(8)} ${row(figures)}   ${each}`)
  }
  const { quotes, exactQuotes, rightLines, answered, abstained, withoutAnswer, stale, misses } = report
  console.log(
    `quoted the answer to ${answered} of ${report.modes.hybrid.questions}; ${exactQuotes} of ${quotes} quotes exact,`,
  )
  console.log(`${rightLines} with the right line; said nothing to ${abstained} of ${withoutAnswer} without an answer`)
  if (stale.length > 0) console.log(`not in the documents any more: ${stale.join('; ')}`)
  if (options.misses) console.log([...misses, ...notes].join('\n'))
}
