import type { Fit, SearchHit } from '../../core/knowledge/knowledge.ts'
import { maxSearchWords } from '../../core/knowledge/limits.ts'
import { hashedList, keywordList } from '../../core/knowledge/lists.ts'
import { askedTitles, isAskedTitle } from '../../core/text/asked-titles.ts'
import { editDistance } from '../../core/text/edit-distance.ts'
import { meantBy } from '../../core/text/idioms.ts'
import { queryWordsOf } from '../../core/text/query-words.ts'
import { nearlySameWord, sameWord } from '../../core/text/same-word.ts'
import { wordsOf } from '../../core/text/terms.ts'
import type { Found } from './search.ts'

const weights = { coverage: 0.45, similarity: 0.1, agreement: 0.35, lead: 0.1 }
/** What counts in full: cosines of passages that answer reach it, and they are so far before the others. */
const highest: Partial<Record<keyof typeof weights, number>> = { similarity: 0.45, lead: 0.5 }
/** These parts compare the best ones with the next. */
const comparing: ReadonlySet<string> = new Set(['agreement', 'lead'])
const comparedRanks = 5
/** With so little agreement the words of the question mostly meet by chance: a part of the score is lost. */
const leastAgreement = 0.1
const chanceShare = 0.15
const readHits = 10
const minRespelt = 5
const respeltShare = 0.85
/** The same for a word of which the collection has only what begins alike: `systemd` and `system`. */
const likeShare = 0.5
/** How much of the similarity a word costs that no text has as it is asked for: its vector is of another word. */
const otherSpelling = 0.6
/** Makes words of small collections alike, and a word that none of their few chunks has tell little. */
const smoothing = 10

/** Words for anything: a text without them may still be about what is asked. */
const generalWords = new Set(
  `able actually anybody anyone anything available best better big calculate calculated certain correct correctly deep describe different
  does easily easy everybody everyone everything exactly explain far fast find gone good handle happen happened happens high large learn
  least long look low made make many maximum mean means minimum multiple nothing often old particular people possible properly quick
  quickly right say says several short show slow small somebody someone something sometimes soon specific supported sure take tell thing
  things times together too try understand various way ways whole work works wrong`.split(/\s+/),
)
/** The share of chunks that a general word counts as being in, at least. */
const generalShare = 0.2

/** Below it the passages are about something else. */
const fitThreshold = 0.5

/** How many chunks the collection has, and how many of them have each word of the query in one of its forms. */
export interface KnownWords {
  chunks: number
  words: ReadonlyMap<string, number>
}

/**
 * How well the best passage fits the whole question; undefined when keywords were not searched. A section whose heading is the
 * question fits in any case.
 */
export function fitOf(query: string, hits: readonly SearchHit[], { lists, fused, known }: Found): Fit | undefined {
  if (known === undefined) return undefined
  const said = queryWordsOf(query)
  const meant = meantBy(query).filter((word) => !said.includes(word) && known.words.has(word))
  const asked = [...said, ...meant].slice(0, maxSearchWords)
  const titles = askedTitles(query)
  const isNamed = hits.some((hit) => isAskedTitle(titles, titlesOf(hit).at(-1) ?? ''))
  const texts = hits.slice(0, readHits).map((hit) => [...new Set(wordsOf([...titlesOf(hit), hit.content].join('\n')))])
  const words = asked.map((word) => lookUp(word, texts, known))
  const total = words.reduce((sum, { weight }) => sum + weight, 0)
  const covered = texts.map((_, at) => words.reduce((sum, { weight, shares }) => sum + weight * (shares[at] ?? 0), 0))
  const respelt = words.reduce((sum, { weight, chunks, as }) => sum + (chunks === 0 && as ? weight : 0), 0)
  const parts = {
    coverage: total === 0 ? 0 : Math.max(0, ...covered) / total,
    ...similarityOf(lists, total === 0 ? 0 : respelt / total),
    ...agreementOf(lists),
    ...leadOf(lists, fused),
  }
  // The best of a few chunks are the same in all lists, and before few others.
  const told = 1 - Math.min(1, comparedRanks / known.chunks)
  let score = 0
  let most = 0
  for (const [name, value] of Object.entries(parts)) {
    const weight = weights[name as keyof typeof weights] * (comparing.has(name) ? told : 1)
    score += weight * Math.min(1, value / (highest[name as keyof typeof weights] ?? 1))
    most += weight
  }
  if ('agreement' in parts && (parts.agreement ?? 0) <= leastAgreement) score *= 1 - chanceShare * told
  const listed = words.map(({ word, chunks, weight, as }) => ({
    word,
    chunks,
    weight,
    ...(as === undefined ? {} : { as }),
  }))
  return { score: isNamed ? 1 : score / most, threshold: fitThreshold, ...parts, chunks: known.chunks, words: listed }
}

/** The more telling, the fewer chunks have the word. */
function weightOf(chunks: number, all: number): number {
  return Math.log(1 + (all + smoothing) / (chunks + smoothing / 10))
}

/** How much of a word each text has. */
function lookUp(word: string, texts: readonly string[][], known: KnownWords) {
  const chunks = known.words.get(word) ?? 0
  const least = generalWords.has(word) ? known.chunks * generalShare : 0
  const toldBy = chunks === 0 ? known.chunks / (known.chunks + smoothing) : 1
  const weight = weightOf(Math.max(chunks, least), known.chunks) * toldBy
  const isSame = chunks === 0 ? nearlySameWord : sameWord
  const same = texts.map((text) => (text.includes(word) ? word : text.find((other) => isSame(word, other))))
  const found = same.find((other) => other !== undefined)
  if (found !== undefined || chunks > 0 || word.length < minRespelt) {
    const shares = same.map((other) => (other === undefined ? 0 : chunks > 0 ? 1 : likeShare))
    return { word, chunks, weight, shares, as: found === word ? undefined : found }
  }
  const slips = word.length < 8 ? 1 : 2
  const near = texts.map((text) =>
    text.find((other) => other.length >= minRespelt && editDistance(word, other) <= slips),
  )
  const shares = near.map((other) => (other === undefined ? 0 : respeltShare))
  return { word, chunks, weight, shares, as: near.find((other) => other !== undefined) }
}

function similarityOf(lists: Found['lists'], respelt: number): { similarity?: number } {
  // Only its cosines mean the same in every collection.
  const hashed = lists.find(({ name }) => name === hashedList)
  if (hashed === undefined) return {}
  return { similarity: Math.min(1, (hashed.ranking[0]?.score ?? 0) / (1 - otherSpelling * respelt)) }
}

/** The share of the best chunks by keywords that are also among the best by vectors: the mean of the lists of vectors. */
function agreementOf(lists: Found['lists']): { agreement?: number } {
  const keyword = lists.find(({ name }) => name === keywordList)
  const others = lists.filter(({ name }) => name !== keywordList)
  if (keyword === undefined || others.length === 0) return {}
  const best = new Set(keyword.ranking.slice(0, comparedRanks).map(({ chunk }) => chunk))
  if (best.size === 0) return { agreement: 0 }
  const both = others.flatMap(({ ranking }) => ranking.slice(0, comparedRanks)).filter(({ chunk }) => best.has(chunk))
  return { agreement: both.length / others.length / best.size }
}

/**
 * How far the best chunk is before the fifth, by the score of all lists together: one that answers stands out, while words that
 * meet by chance do so in many. Where one list is all, its scores say no such thing.
 */
function leadOf(lists: Found['lists'], fused: Found['fused']): { lead?: number } {
  if (lists.length < 2) return {}
  const [first, fifth] = [0, comparedRanks - 1].map((at) => Math.min(1, fused[at]?.score ?? 0)) as [number, number]
  return { lead: first - fifth }
}

function titlesOf({ metadata }: SearchHit): string[] {
  const path = metadata.heading_path
  return Array.isArray(path) ? path.filter((title) => typeof title === 'string') : []
}
