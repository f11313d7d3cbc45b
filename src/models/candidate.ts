import type { Fit, SearchHit } from '../core/knowledge/knowledge.ts'
import { askedTitles, isAskedTitle, plainWords } from '../core/text/asked-titles.ts'
import { editDistance } from '../core/text/edit-distance.ts'
import { queryWordsOf } from '../core/text/query-words.ts'
import { sameWord } from '../core/text/same-word.ts'
import { wordsOf } from '../core/text/terms.ts'
import { type Block, blocksOf, isMark, tableOf } from './passage-blocks.ts'
import { clip, type Span, splitSentences } from './sentence.ts'

const maxSentences = 400
/** Passages up to this many words have no length penalty. */
const plainLength = 15
const unknownWordWeight = 1.5
const minRespelt = 5
/** Weight of a question word in a heading above the passage, compared to one in the passage. */
const headingShare = 0.65
const aboveShare = 0.4
/** The same for a word in the head of the table over a row. */
const columnShare = 0.8
/** Fewer words say little, as `See [the list].` does, unless the heading is the question. */
const fewWords = 5
const fewWordsShare = 0.7
/** A heading with this share of the question's weight counts as the question: the text under it answers. */
const asQuestion = 0.8
/** A heading with all words of the question and no others adds this share, one that is the question word for word more. */
const titledShare = 0.6
const sameHeading = 1.7

/** A row whose first cell is a name that is asked for says what that is. */
const labelled = 1.15
const maxLabelWords = 4

/** Fewer words may stand in an answer as they stand in the question. */
const wordsOfQuestion = 4

export type Weighed = readonly [word: string, weight: number]

/** The passage of a hit that fits a question best. */
export interface Candidate {
  hit: SearchHit
  content: string
  blocks: readonly Block[]
  /** The block of the passage. */
  at: number
  passage: Span
  asked: boolean
  score: number
  /** The words of the question that it has, or that stand above it. */
  shared: ReadonlySet<string>
  inside: ReadonlySet<string>
}

/** The words of a question, weighted as the collection has them, else as the hits do. */
export function wordsAsked(question: string, hits: readonly SearchHit[], fit: Fit | undefined): Weighed[] {
  if (fit === undefined) return weigh(queryWordsOf(question), hits)
  // A word that the collection has is meant as it is: of `times`, `timeout` is no form.
  return fit.words.map(({ word, weight, as, chunks }) => [chunks === 0 ? (as ?? word) : word, weight])
}

/** A word in every hit does not distinguish them; a word in no hit may be the user's own. */
function weigh(question: readonly string[], hits: readonly SearchHit[]): Weighed[] {
  const found = hits.map((hit) => [...new Set(wordsOf([...headingPath(hit), hit.content].join('\n')))])
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

export function bestOf(
  hit: SearchHit,
  text: string,
  wanted: readonly Weighed[],
  factor: number,
): Candidate | undefined {
  const question = plainWords(text)
  const named = askedTitles(text)
  // One shared word of a longer question is more often chance than an answer.
  const enough = wanted.length > 2 ? 2 : 1
  let best: Candidate | undefined
  const path = headingPath(hit)
  const titles = new Set(path.map(plainWords))
  const above = wordsOf(path.slice(0, -1).join('\n'))
  let heading = wordsUnder(named, path.at(-1), wanted)
  const { content } = hit
  const blocks = blocksOf(content, hit.source)
  for (const [at, block] of blocks.entries()) {
    if (block.kind === 'heading' || titles.has(plainWords(block.text))) {
      heading = wordsUnder(named, block.text, wanted)
      continue
    }
    // The head of a table means nothing without its rows.
    if (block.kind === 'rule' || blocks[at + 1]?.kind === 'rule') continue
    if (isMark(block) && !(block.kind === 'link' && heading.isNamed)) continue
    const columns = block.kind === 'row' ? wordsOf(tableHead(blocks, at) ?? path.at(-1) ?? '') : []
    const isLabelled = labelOf(block).some((word) => wanted.some(([asked]) => sameWord(asked, word)))
    for (const passage of passages(block)) {
      const words = wordsBesides(passage.text, question)
      if (words.length === 0) continue
      let score = 0
      const shared = new Set<string>()
      const inside = new Set<string>()
      for (const [word, weight] of wanted) {
        const has = (list: readonly string[]) => list.some((other) => sameWord(word, other))
        const isInside = has(words)
        const share = isInside
          ? 1
          : Math.max(
              has(columns) ? columnShare : 0,
              has(heading.words) ? heading.share : 0,
              has(above) ? aboveShare : 0,
            )
        score += weight * share
        if (share > 0) shared.add(word)
        if (isInside) inside.add(word)
      }
      // A long passage shares words by chance.
      if (!heading.isNamed) score /= 1 + Math.max(0, words.length - plainLength) / 60
      score *= heading.factor
      if (isLabelled) score *= labelled
      if (words.length + columns.length < fewWords && heading.share < 1) score *= fewWordsShare
      if (shared.size < enough || score * factor <= (best?.score ?? 0)) continue
      const asked = heading.share === 1
      best = { hit, content, blocks, at, passage, asked, score: score * factor, shared, inside }
    }
  }
  return best
}

/** The words of the first cell of a row; none when there are many. */
function labelOf({ kind, text }: Block): string[] {
  const words = kind === 'row' ? wordsOf(/^\s*\|([^|]*)/.exec(text)?.[1] ?? '') : []
  return words.length > maxLabelWords ? [] : words
}

/** The first row of a table, when a line divides it from the others. */
function tableHead(blocks: readonly Block[], at: number): string | undefined {
  const [first] = tableOf(blocks, at)
  return blocks[first + 1]?.kind === 'rule' ? blocks[first]?.text : undefined
}

interface Heading {
  words: string[]
  share: number
  isNamed: boolean
  /** What is under it is the better, the more it is the question itself. */
  factor: number
}

/** The words of a heading with their weight for a passage: the full weight when the heading is the question. */
function wordsUnder(named: readonly string[], heading = '', wanted: readonly Weighed[]): Heading {
  const words = wordsOf(heading)
  const covered = wanted.reduce((sum, [word, weight]) => sum + (words.some((w) => sameWord(word, w)) ? weight : 0), 0)
  const total = wanted.reduce((sum, [, weight]) => sum + weight, 0)
  const isNamed = isAskedTitle(named, heading)
  const share = isNamed || covered >= total * asQuestion ? 1 : headingShare
  const telling = queryWordsOf(heading)
  const asked = telling.filter((each) => wanted.some(([word]) => sameWord(word, each)))
  const likeness = total === 0 || telling.length === 0 ? 0 : ((covered / total) * asked.length) / telling.length
  return { words, share, isNamed, factor: isNamed ? sameHeading : 1 + titledShare * likeness }
}

/** The words of a passage; none of those that only repeat the question, or of an example of it. */
function wordsBesides(text: string, question: string): string[] {
  const words = plainWords(text)
  if (!words.includes(question)) return wordsOf(text)
  if (words === question || /^(?:```|~~~)/.test(text)) return []
  return question.split(' ').length < wordsOfQuestion ? wordsOf(text) : wordsOf(words.replaceAll(question, ' '))
}

/** The titles above a passage, outermost first. A document's own metadata may use the same name for other values. */
export function headingPath({ metadata }: Pick<SearchHit, 'metadata'>): string[] {
  const path = metadata.heading_path
  return Array.isArray(path) ? path.filter((title) => typeof title === 'string') : []
}

/** Sentences of a block, each joined with the next ones while they are few and short; a short block is one passage. */
function passages(block: Block): Span[] {
  if (block.text.length <= maxSentences / 2 || block.kind === 'code') {
    return block.text.length <= maxSentences * 4 ? [block] : []
  }
  const parts = splitSentences(block.text)
  return parts.map((part, index) => {
    const next = parts[index + 1]
    const end = next === undefined ? part.start + part.text.length : next.start + next.text.length
    const last = end - part.start <= maxSentences / 2 ? end : part.start + part.text.length
    const text = block.text.slice(part.start, last)
    return { start: block.start + part.start, text: clip(text, maxSentences) }
  })
}
