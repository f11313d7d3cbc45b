import { readFile, writeFile } from 'node:fs/promises'
import { type SearchMode, searchModes } from '../../src/core/knowledge/knowledge.ts'
import { knowledgeFolder } from '../../test/support/knowledge/folder.ts'
import { bootstrap, type Interval } from './bootstrap.ts'
import { type Layout, lay, layouts, plain } from './layouts.ts'
import { type QuestionSet, questionSets } from './sets.ts'

const depth = 10

/** The rank of the answer to each question; 0: not among the first ten; null: the set has no passage for it. */
export interface Ranks {
  set: string
  layout: Layout
  mode: SearchMode
  ranks: (number | null)[]
}

export async function measureRanks(note: (line: string) => void = () => {}): Promise<Ranks[]> {
  const place = await knowledgeFolder()
  try {
    const knowledge = await place.open()
    const measured: Ranks[] = []
    for (const set of questionSets) {
      const texts = await set.texts()
      for (const layout of layouts) {
        const collection = `${set.name}-${layout}`
        const { documents, questions } = lay(layout, texts, set.asked)
        await knowledge.ingestMany(documents.map((document) => ({ ...document, name: document.source, collection })))
        for (const mode of searchModes) {
          const ranks: Ranks['ranks'] = []
          for (const { question, source, answer } of questions) {
            if (source === undefined) {
              ranks.push(null)
              continue
            }
            const { results } = await knowledge.search({ query: question, mode, limit: depth, collection })
            const wanted = plain(answer)
            const rank = results.findIndex((hit) => hit.source === source && plain(hit.content).includes(wanted)) + 1
            if (rank !== 1)
              note(`${set.name} ${layout} ${mode} ${rank || '-'}: ${question} → ${results[0]?.source ?? 'nothing'}`)
            ranks.push(rank)
          }
          measured.push({ set: set.name, layout, mode, ranks })
        }
      }
    }
    return measured
  } finally {
    await place.remove()
  }
}

export const saveRanks = (file: string, ranks: readonly Ranks[]) => writeFile(file, `${JSON.stringify(ranks)}\n`)
export const readRanks = async (file: string) => JSON.parse(await readFile(file, 'utf8')) as Ranks[]

/** Means over the questions of all sets of one use; with earlier ranks, what has changed since, question by question. */
export function ranksTable(measured: readonly Ranks[], earlier?: readonly Ranks[]): string {
  const rows = [
    `| Sets | Layout | Mode | MRR@10 | First | First ten |${earlier ? ' Change of MRR@10 |' : ''}`,
    `|---|---|---|---|---|---|${earlier ? '---|' : ''}`,
  ]
  const groups: [string, (set: QuestionSet) => boolean][] = [
    ['to tune on', ({ use }) => use === 'tune'],
    ['to report', ({ use }) => use === 'report'],
    ...questionSets.map(({ name }): [string, (set: QuestionSet) => boolean] => [name, (set) => set.name === name]),
  ]
  for (const [name, isOf] of groups) {
    const sets = new Set(questionSets.filter(isOf).map((set) => set.name))
    for (const layout of layouts)
      for (const mode of searchModes) {
        const isWanted = (one: Ranks) => sets.has(one.set) && one.layout === layout && one.mode === mode
        const ranks = measured.filter(isWanted).flatMap((one) => one.ranks)
        const before = earlier?.filter(isWanted).flatMap((one) => one.ranks)
        const there = ranks.filter((rank) => rank !== null)
        const cells = [
          name,
          layout,
          mode,
          spread(bootstrap(there.map(reciprocal))),
          share(there, 1),
          share(there, depth),
        ]
        if (before?.length === ranks.length) cells.push(spread(bootstrap(changes(before, ranks)), true))
        else if (earlier) cells.push('other questions')
        rows.push(`| ${cells.join(' | ')} |`)
      }
  }
  return rows.join('\n')
}

function reciprocal(rank: number): number {
  return rank === 0 ? 0 : 1 / rank
}

function changes(before: Ranks['ranks'], after: Ranks['ranks']): number[] {
  return after.flatMap((rank, at) => {
    const earlier = before[at] ?? null
    return rank === null || earlier === null ? [] : [reciprocal(rank) - reciprocal(earlier)]
  })
}

function share(ranks: readonly number[], deepest: number): string {
  const found = ranks.filter((rank) => rank > 0 && rank <= deepest).length
  return `${Math.round((found * 100) / ranks.length)} %`
}

function spread({ mean, low, high }: Interval, isSigned = false): string {
  const shown = (value: number) => `${isSigned && value > 0 ? '+' : ''}${value.toFixed(3)}`
  return `${shown(mean)} (${shown(low)} – ${shown(high)})`
}
