import type { Fit, SearchHit } from '../core/knowledge/knowledge.ts'
import { type Silence, silenceOf } from '../core/knowledge/silence.ts'
import { askedTitles, isAskedTitle } from '../core/text/asked-titles.ts'
import { wordsOf } from '../core/text/terms.ts'
import { bestOf, type Candidate, headingPath, type Weighed, wordsAsked } from './candidate.ts'
import { blocksOf } from './passage-blocks.ts'
import { readable } from './readable.ts'
import { contentWords } from './sentence.ts'
import { type Unit, unitAround } from './unit.ts'

/** A passage exactly as it stands in its source. */
export interface Quote {
  hit: SearchHit
  text: string
  /** The same for people: without the marks of reStructuredText and HTML, with the head of its table. */
  shown: string
  /** Line of its first character, when the format has lines. */
  line: number | undefined
}

const maxQuotes = 3
/** Minimum share of the question's weight in the best passage; a long question counts as six words. */
const minFit = 0.4
/** The same where the search as a whole fits the question. */
const minFitOfSearch = 0.3
const weighedWords = 6
/** Penalty per rank in the search results. */
const rankCost = 0.05
/** Part of a passage's worth that is its score in the search, compared to the best one's. */
const searchShare = 0.25
/** Passages with less of the question than this share of the best one are about something else. */
const minShare = 0.5
/** The same for the words that they have, wherever: the heading over them counts. */
const minShared = 0.5
/** A second quote is wanted for words of this share of the question that the first does not have. */
const missingShare = 0.3
/** Passages with this share of their words in common say the same. */
const sameIdea = 0.7

export interface Quotes {
  /** Best first: at most three, one per hit. */
  quotes: Quote[]
  /** Why there are none although there are hits. */
  abstained?: Silence
}

/** The text around a passage: more of its document, and where the passage's own text begins in it. */
export type Widen = (hit: SearchHit) => Promise<{ content: string; shift: number; line: number | undefined }>

/** The passages that answer a question best, each as a whole. */
export async function findQuotes(
  question: string,
  hits: readonly SearchHit[],
  { fit, widen }: { fit?: Fit | undefined; widen?: Widen | undefined } = {},
): Promise<Quotes> {
  if (hits.length === 0) return { quotes: [] }
  const wanted = wordsAsked(question, hits, fit)
  const weights = wanted.map(([, weight]) => weight).sort((one, other) => other - one)
  const total = weights.slice(0, weighedWords).reduce((sum, weight) => sum + weight, 0)
  const asked = askedTitles(question)
  const isNamed = hits.some((hit) => isAskedTitle(asked, headingPath(hit).at(-1) ?? ''))
  if (total === 0 || (contentWords(question).length === 0 && !isNamed))
    return none('The question has no word that could be looked for.', 0, minFit)
  const silence = fit && silenceOf(fit)
  if (silence) return { quotes: [], abstained: silence }
  const highest = hits[0]?.score || 1
  const best = hits.flatMap((hit, place) => {
    const found = 1 - searchShare + (searchShare * hit.score) / highest
    return bestOf(hit, question, wanted, found / (1 + rankCost * place)) ?? []
  })
  best.sort((one, other) => other.score - one.score)
  const top = best[0]
  const least = fit === undefined ? minFit : minFitOfSearch
  if (top === undefined) return none('No passage has enough words of the question.', 0, least)
  if (top.score < total * least) return none('The best passage does not fit the question.', top.score / total, least)
  const quotes: Quote[] = []
  for (const candidate of inTurn(best, wanted, total)) {
    if (quotes.length === maxQuotes) break
    const quote = await wholeQuote(candidate, widen)
    if (!quotes.some((other) => saysTheSame(other, quote))) quotes.push(quote)
  }
  return { quotes }
}

/** The quotes for the parts of a question: the best of each part first, none twice. */
export function mergeQuotes(parts: readonly (readonly Quote[])[]): Quote[] {
  const inTurns = parts
    .flatMap((quotes, part) => quotes.map((quote, place) => ({ quote, part, place })))
    .sort((one, other) => one.place - other.place || one.part - other.part)
  const merged: Quote[] = []
  for (const { quote } of inTurns) {
    if (merged.length < maxQuotes && !merged.some((other) => saysTheSame(other, quote))) merged.push(quote)
  }
  return merged
}

function none(reason: string, score: number, threshold: number): Quotes {
  return { quotes: [], abstained: { reason, score, threshold } }
}

/** Best first; second, one with words of the question that the best does not have. */
function inTurn(best: readonly Candidate[], wanted: readonly Weighed[], total: number): Candidate[] {
  const [top, ...others] = best
  if (top === undefined) return []
  const weightOf = (words: ReadonlySet<string>) =>
    wanted.reduce((sum, [word, weight]) => sum + (words.has(word) ? weight : 0), 0)
  const near = others.filter(
    // When one passage has the telling words of a question, passages with one of them are about something else.
    ({ score, shared }) => score >= top.score * minShare && weightOf(shared) >= weightOf(top.shared) * minShared,
  )
  const missing = wanted.filter(([word]) => !top.shared.has(word))
  if (missing.reduce((sum, [, weight]) => sum + weight, 0) < total * missingShare) return [top, ...near]
  const gain = ({ inside }: Candidate) =>
    missing.reduce((sum, [word, weight]) => sum + (inside.has(word) ? weight : 0), 0)
  const other = others.reduce<Candidate | undefined>(
    (most, each) => (gain(each) > (most === undefined ? total * missingShare : gain(most)) ? each : most),
    undefined,
  )
  return other === undefined ? [top, ...near] : [top, other, ...near.filter((each) => each !== other)]
}

async function wholeQuote(candidate: Candidate, widen: Widen | undefined): Promise<Quote> {
  const { hit, content, blocks, at, passage, asked } = candidate
  const about = { asked, columns: columnsAbove(hit) }
  const unit = unitAround(content, blocks, at, passage, about)
  const isCut = unit.start <= leading(content) || unit.start + unit.text.length >= content.trimEnd().length
  if (widen === undefined || !isCut) return toQuote(hit, content, unit, hit.line_start)
  const wide = await widen(hit)
  const moved = { start: passage.start + wide.shift, text: passage.text }
  const wideBlocks = blocksOf(wide.content, hit.source)
  const place = wideBlocks.findLastIndex(({ start }) => start <= moved.start)
  const inside = place === -1 || wideBlocks[place]?.kind === 'heading'
  if (inside) return toQuote(hit, content, unit, hit.line_start)
  return toQuote(hit, wide.content, unitAround(wide.content, wideBlocks, place, moved, about), wide.line)
}

/** The head of a table of which a chunk has only rows: its path ends with the names of the columns. */
function columnsAbove(hit: SearchHit): string | undefined {
  const names = headingPath(hit).at(-1)?.split(' | ') ?? []
  return names.length < 2 ? undefined : `| ${names.join(' | ')} |\n|${'---|'.repeat(names.length)}`
}

function leading(content: string): number {
  return content.length - content.trimStart().length
}

function toQuote(hit: SearchHit, content: string, unit: Unit, first: number | undefined): Quote {
  const line = first === undefined ? undefined : first + countLines(content.slice(0, unit.start))
  return { hit, text: unit.text, shown: readable(unit, hit.source), line }
}

/** The same lines, or the same words but for a few. */
function saysTheSame(one: Quote, other: Quote): boolean {
  if (one.text.includes(other.text) || other.text.includes(one.text)) return true
  if (one.hit.document_id === other.hit.document_id && one.line !== undefined && other.line !== undefined) {
    const apart = one.line + countLines(one.text) < other.line || other.line + countLines(other.text) < one.line
    if (!apart) return true
  }
  const [few, many] = [new Set(wordsOf(one.text)), new Set(wordsOf(other.text))].sort((a, b) => a.size - b.size)
  if (few === undefined || many === undefined || few.size === 0) return false
  return [...few].filter((word) => many.has(word)).length >= few.size * sameIdea
}

function countLines(text: string): number {
  return text.split('\n').length - 1
}
