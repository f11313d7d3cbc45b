import type { SearchHit } from '../core/knowledge/knowledge.ts'
import { editDistance } from '../core/text/edit-distance.ts'
import { clip, contentWords, type Span, sameWord, splitSentences, trimSpan } from './sentence.ts'

/** A passage exactly as it stands in its source. */
export interface Quote {
  hit: SearchHit
  text: string
  /** Line of its first character, when the format has lines. */
  line: number | undefined
}

const maxQuotes = 3
const maxQuoteLength = 400
/** Minimum share of the question's weight in the best passage; a long question counts as six words. */
const minFit = 0.4
const weighedWords = 6
/** Passages up to this many words have no length penalty. */
const plainLength = 15
const unknownWordWeight = 1.5
const minRespelt = 5
/** Weight of a question word in a heading above the passage, compared to one in the passage. */
const headingShare = 0.5
const aboveShare = 0.25
/** A heading with this share of the question's weight counts as the question: the text under it answers. */
const asQuestion = 0.8
/** Penalty per rank in the search results. */
const rankCost = 0.05

interface Candidate extends Quote {
  score: number
  shared: number
}

export interface Quotes {
  /** Best first: at most three, one per hit. */
  quotes: Quote[]
  /** Why there are none although there are hits. `score`: the best passage's share of the question's weight. */
  abstained?: { reason: string; score: number; threshold: number }
}

/** The passages that answer a question best. */
export function findQuotes(question: string, hits: readonly SearchHit[]): Quotes {
  const wanted = weigh([...new Set(contentWords(question))], hits)
  const weights = wanted.map(([, weight]) => weight).sort((one, other) => other - one)
  const total = weights.slice(0, weighedWords).reduce((sum, weight) => sum + weight, 0)
  if (total === 0) return none(hits, 'The question has no word that could be looked for.', 0)
  const asked = plain(question)
  const best = hits.flatMap((hit, place) => bestOf(hit, asked, wanted, 1 / (1 + rankCost * place)) ?? [])
  best.sort((one, other) => other.score - one.score)
  const top = best[0]
  if (top === undefined) return none(hits, 'No passage has enough words of the question.', 0)
  if (top.score < total * minFit) return none(hits, 'The best passage does not fit the question.', top.score / total)
  const chosen: Candidate[] = []
  for (const candidate of best) {
    if (chosen.length === maxQuotes || candidate.score < top.score * 0.6) break
    // When one passage has both words of a question, passages with one of them are about something else.
    if (candidate.shared < Math.min(2, top.shared)) continue
    if (!chosen.some(({ text }) => text.includes(candidate.text) || candidate.text.includes(text)))
      chosen.push(candidate)
  }
  return { quotes: chosen }
}

function none(hits: readonly SearchHit[], reason: string, score: number): Quotes {
  return hits.length === 0 ? { quotes: [] } : { quotes: [], abstained: { reason, score, threshold: minFit } }
}

/** A word in every hit does not distinguish them; a word in no hit may be the user's own. */
function weigh(question: readonly string[], hits: readonly SearchHit[]): [word: string, weight: number][] {
  const found = hits.map((hit) => [...new Set(contentWords([...headingPath(hit), hit.content].join('\n')))])
  return question.map((asked) => {
    const word = found.some((list) => list.some((other) => sameWord(asked, other))) ? asked : respelt(asked, found)
    const holders = found.filter((list) => list.some((other) => sameWord(word, other))).length
    return [word, holders === 0 ? unknownWordWeight : 1 + Math.log((hits.length + 1) / (holders + 1))]
  })
}

/** The closest spelling in the hits of a word that no hit contains. */
function respelt(word: string, found: readonly string[][]): string {
  if (word.length < minRespelt) return word
  const slips = word.length < 8 ? 1 : 2
  for (const list of found) {
    const other = list.find((each) => each.length >= minRespelt && editDistance(word, each) <= slips)
    if (other !== undefined) return other
  }
  return word
}

function bestOf(
  hit: SearchHit,
  question: string,
  wanted: readonly [string, number][],
  factor: number,
): Candidate | undefined {
  // One shared word of a longer question is more often chance than an answer.
  const enough = wanted.length > 2 ? 2 : 1
  let best: { score: number; shared: number; span: Span } | undefined
  const path = headingPath(hit)
  const titles = new Set(path.map(plain))
  const titled = wordsUnder(path.at(-1), wanted)
  const above = contentWords(path.slice(0, -1).join('\n'))
  let heading = titled
  const all = blocks(hit.content)
  for (const [index, block] of all.entries()) {
    if (isHeading(block.text) || titles.has(plain(block.text))) {
      heading = wordsUnder(block.text, wanted)
      continue
    }
    // The head of a table means nothing without its rows.
    if (isTableLine(block) || isTableLine(all[index + 1])) continue
    for (const span of passages(block)) {
      if (repeats(span.text, question)) continue
      const inside = contentWords(span.text)
      let score = 0
      let shared = 0
      for (const [word, weight] of wanted) {
        const share = inside.some((other) => sameWord(word, other))
          ? 1
          : heading.words.some((other) => sameWord(word, other))
            ? heading.share
            : above.some((other) => sameWord(word, other))
              ? aboveShare
              : 0
        score += weight * share
        if (share > 0) shared++
      }
      // A long passage shares words by chance.
      score /= 1 + Math.max(0, inside.length - plainLength) / 60
      if (shared >= enough && score > (best?.score ?? 0)) best = { score, shared, span }
    }
  }
  if (best === undefined) return undefined
  const { score, shared, span } = best
  const { start, text } = span
  const line = hit.line_start === undefined ? undefined : hit.line_start + countLines(hit.content.slice(0, start))
  return { hit, text, line, score: score * factor, shared }
}

/** The words of a heading with their weight for a passage: the full weight when the heading is the question. */
function wordsUnder(heading = '', wanted: readonly [string, number][]): { words: string[]; share: number } {
  const words = contentWords(heading)
  const covered = wanted.reduce((sum, [asked, weight]) => sum + (words.some((w) => sameWord(asked, w)) ? weight : 0), 0)
  const total = wanted.reduce((sum, [, weight]) => sum + weight, 0)
  return { words, share: covered >= total * asQuestion ? 1 : headingShare }
}

/** Whether a passage only repeats the question or an example of it. */
function repeats(text: string, question: string): boolean {
  const words = plain(text)
  return words === question || (/^(?:```|~~~)/.test(text) && words.includes(question))
}

function plain(text: string): string {
  return (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).join(' ')
}

/** The titles above a passage, outermost first. A document's own metadata may use the same name for other values. */
function headingPath({ metadata }: SearchHit): string[] {
  const path = metadata.heading_path
  return Array.isArray(path) ? path.filter((title) => typeof title === 'string') : []
}

/** Paragraphs, list items, headings and whole fenced code blocks. */
function blocks(content: string): Span[] {
  const found: Span[] = []
  let start = 0
  let fenced = false
  let title: number | undefined
  const close = (end: number) => {
    const span = trimSpan({ start, text: content.slice(start, end) })
    if (span.text !== '') found.push(span)
    start = end
  }
  for (const { index, 0: line } of content.matchAll(/[^\n]*(?:\n|$)/g)) {
    if (/^\s*(?:```|~~~)/.test(line)) {
      if (!fenced) close(index)
      fenced = !fenced
      if (!fenced) close(index + line.length)
    } else if (!fenced && title !== undefined && isUnderline(line)) {
      close(title)
      close(index + line.length)
    } else if (!fenced && /^\s*$|^#{1,6}\s|^\s*(?:[-*+]|\d+[.)])\s|^\s*\|/.test(line)) {
      close(index)
      if (isHeading(line)) close(index + line.length)
    }
    title = fenced || !/^ {0,3}[\p{L}\p{N}`*_"'([<]/u.test(line) ? undefined : index
  }
  close(content.length)
  return found
}

/** The line between a table's head and its rows. */
function isTableLine(block: Span | undefined): boolean {
  return block !== undefined && /^\|[\s:|-]+$/.test(block.text)
}

/** A title by its mark (Markdown) or its underline (Markdown, reStructuredText). */
function isHeading(text: string): boolean {
  const [first = '', second, ...more] = text.trim().split('\n')
  if (second === undefined) return /^#{1,6}\s/.test(first)
  return more.length === 0 && isUnderline(second)
}

/** One punctuation mark repeated, which makes the line above a title. */
function isUnderline(line: string): boolean {
  return /^ {0,3}(?:={2,}|-{2,}|([!-/:-@[-`{-~])\1{2,})\s*$/.test(line)
}

/** Sentences of a block, each joined with the next ones while they are few and short; a short block is one passage. */
function passages(block: Span): Span[] {
  if (block.text.length <= maxQuoteLength / 2 || /^(?:```|~~~)/.test(block.text)) {
    return block.text.length <= maxQuoteLength * 4 ? [block] : []
  }
  const parts = splitSentences(block.text)
  return parts.map((part, index) => {
    const next = parts[index + 1]
    const end = next === undefined ? part.start + part.text.length : next.start + next.text.length
    const last = end - part.start <= maxQuoteLength / 2 ? end : part.start + part.text.length
    const text = block.text.slice(part.start, last)
    return { start: block.start + part.start, text: clip(text, maxQuoteLength) }
  })
}

function countLines(text: string): number {
  return text.split('\n').length - 1
}
