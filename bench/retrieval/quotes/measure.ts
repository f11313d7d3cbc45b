import type { Knowledge, SearchResult } from '../../../src/core/knowledge/knowledge.ts'
import { knowledgeFolder } from '../../../test/support/knowledge/folder.ts'
import { type Question, type QuoteSet, readSets } from './sets.ts'

export interface Place {
  source: string
  line: number | undefined
}

/** What is quoted for a question: nothing, when it is not answered. */
export type Quoting = (
  question: string,
  search: (query: string) => Promise<SearchResult>,
  knowledge: Knowledge,
) => Promise<Place[]>

export interface Counts {
  questions: number
  right: number
  first: number
  wrong: number
  silent: number
}

export interface SetFigures {
  name: string
  tuned: boolean
  plain: Counts
  headings: Counts
  /** Questions about the other sets that were put to this one: how many were answered with quotes. */
  foreign: { questions: number; answered: number }
}

const limit = 6

/** `note` is told of each question that is not answered right, and of each about another product that is answered. */
export async function measureQuotes(
  quoting: Quoting,
  only?: readonly string[],
  note: (line: string) => void = () => {},
): Promise<SetFigures[]> {
  const sets = await readSets()
  const figures: SetFigures[] = []
  for (const set of sets) {
    if (only !== undefined && !only.includes(set.name)) continue
    const place = await knowledgeFolder()
    try {
      const knowledge = await place.open()
      const items = [...set.texts].map(([source, content]) => ({ source, name: source, content }))
      for (let at = 0; at < items.length; at += 50) await knowledge.ingestMany(items.slice(at, at + 50))
      const search = (query: string) => knowledge.search({ query, limit, trace: true })
      const quoted = (question: string) => quoting(question, search, knowledge)
      const strange = sets.filter((other) => other !== set).flatMap((other) => other.plain.filter(isOfItsOwn))
      let answered = 0
      for (const { question } of strange) {
        const places = await quoted(question)
        if (places.length === 0) continue
        answered++
        note(`${set.name} of another product: ${question} → ${shown(places)}`)
      }
      figures.push({
        name: set.name,
        tuned: set.tuned,
        plain: await count(set.plain, quoted, (line) => note(`${set.name} question: ${line}`)),
        headings: await count(set.headings, quoted, (line) => note(`${set.name} heading: ${line}`)),
        foreign: { questions: strange.length, answered },
      })
    } finally {
      await place.remove()
    }
  }
  return figures
}

/** Questions that the documentation of any server or library may answer tell nothing. */
function isOfItsOwn({ question }: Question): boolean {
  return !/Node|versions|cookie|API key|retried|retries|crash/i.test(question)
}

async function count(
  questions: readonly Question[],
  quoted: (question: string) => Promise<Place[]>,
  note: (line: string) => void,
): Promise<Counts> {
  const counts = { questions: questions.length, right: 0, first: 0, wrong: 0, silent: 0 }
  for (const question of questions) {
    const places = await quoted(question.question)
    const fits = places.map(
      ({ source, line = 0 }) =>
        source === question.source && question.sections.some(({ from, to }) => line >= from && line <= to),
    )
    if (fits.includes(true)) counts.right++
    else if (places.length === 0) counts.silent++
    else counts.wrong++
    if (fits[0] === true) counts.first++
    if (!fits.includes(true)) note(`${question.question} (${question.source}) → ${shown(places)}`)
  }
  return counts
}

function shown(places: readonly Place[]): string {
  return places.map(({ source, line }) => `${source}:${line}`).join(', ') || 'nothing'
}

export type { QuoteSet }
