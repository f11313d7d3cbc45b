import type { Tokens } from '../../src/knowledge/embedders/static-tokens.ts'
import type { Random } from './random.ts'
import type { Group, Row } from './rows.ts'

/** A question and the text that answers it. */
export interface Pair {
  query: readonly number[]
  text: readonly number[]
  idf: Float32Array
}

const templates = [
  ...['how do i', 'how can i', 'how to', 'what is', 'what are', 'why does', 'why is', 'is it possible to', 'can i'],
  ...['does it', 'what does', 'how does', 'when should i', 'where is', 'i want to', 'what happens when'],
  ...['why do i get', 'what should i do if', 'should i use'],
]
const sentenceShare = 0.3
const templateShare = 0.3
const neighbourShare = 0.5
const neighbours = 8
const dropShare = 0.15
const groupPower = 0.6

/** Makes batches of pairs from few groups, about half of them from neighbouring sections: those are the hardest to tell apart. */
export function createSampling(groups: readonly Group[], tokens: Tokens, random: Random) {
  const openings = templates.map((template) => tokens.of(template))
  const uses = new Map<string, number>()
  for (const { rows } of groups)
    for (const { heading } of rows) uses.set(heading.join(), (uses.get(heading.join()) ?? 0) + 1)
  const weights = groups.map(({ rows }) => rows.length ** groupPower)
  const isCommon = ({ heading }: Row) => heading.length <= 1 || (uses.get(heading.join()) ?? 0) > 4

  const chooseGroups = (count: number): Group[] => {
    const left = [...weights]
    return Array.from({ length: Math.min(count, groups.length) }, () => {
      let target = random.next() * left.reduce((sum, weight) => sum + weight, 0)
      let chosen = 0
      for (const [at, weight] of left.entries()) {
        if (weight === 0) continue
        chosen = at
        target -= weight
        if (target < 0) break
      }
      left[chosen] = 0
      return groups[chosen] as Group
    })
  }

  const chooseRows = ({ rows }: Group, count: number): Row[] => {
    const chosen = new Set<number>()
    if (random.next() < neighbourShare)
      for (let run = 0; run < Math.floor(count / neighbours); run++) {
        const start = random.between(0, rows.length)
        for (let next = 0; next < neighbours; next++) chosen.add((start + next) % rows.length)
      }
    else for (let at = 0; at < count; at++) chosen.add(random.between(0, rows.length))
    return [...chosen].sort((one, other) => one - other).map((at) => rows[at] as Row)
  }

  /** A sentence asks for what stands around it. */
  const sentencePair = ({ body }: Row, length: number): Omit<Pair, 'idf'> | undefined => {
    const spans = spansOf(body)
    const fitting = spans.filter(([from, to]) => to - from >= 5 && to - from <= 30)
    const [from, to] = fitting[random.between(0, fitting.length)] ?? [0, 0]
    if (spans.length < 3 || to === 0) return undefined
    const before = Math.max(0, from - random.between(0, length))
    const text = [...body.subarray(before, from), ...body.subarray(to, to + length - (from - before))]
    return text.filter((token) => token > 0).length >= 10 ? { query: [...body.subarray(from, to)], text } : undefined
  }

  const queryOf = (row: Row): readonly number[] => {
    const { heading, parent, title, description } = row
    if (description.length >= 5 && random.next() < 0.3) return [...description]
    const choice = random.next()
    if (isCommon(row)) return choice < 0.5 ? [...parent, ...heading] : [...title, ...heading]
    if (choice < 0.6) return [...heading]
    return choice < 0.8 ? [...heading, ...parent] : [...title, ...heading]
  }

  const headingPair = (row: Row, length: number): Omit<Pair, 'idf'> => {
    const asked = queryOf(row)
    const opening = random.next() < templateShare ? (openings[random.between(0, openings.length)] ?? []) : []
    const { body } = row
    const from = body.length <= length || random.next() < 0.7 ? 0 : random.between(0, body.length - length)
    return { query: [...opening, ...asked], text: [...body.subarray(from, from + length)] }
  }

  const withDropped = (text: readonly number[]): readonly number[] => {
    if (text.length < 8) return text
    const kept = text.filter(() => random.next() > dropShare)
    return kept.length > 3 ? kept : text
  }

  return {
    batch(size: number, groupCount: number): Pair[] {
      const pairs: Pair[] = []
      for (const group of chooseGroups(groupCount))
        for (const row of chooseRows(group, Math.floor(size / groupCount))) {
          const length = random.between(60, 220)
          const asks = random.next() < sentenceShare && group.hasSentences
          const pair = (asks ? sentencePair(row, length) : undefined) ?? headingPair(row, length)
          if (!pair.query.some(Boolean) || !pair.text.some(Boolean)) continue
          pairs.push({ query: pair.query, text: withDropped(pair.text), idf: group.idf })
        }
      return pairs
    },
  }
}

/** Where the sentences of a body are. */
function spansOf(body: Int32Array): [from: number, to: number][] {
  const spans: [number, number][] = []
  let from = 0
  for (const [at, token] of body.entries()) {
    if (token !== 0) continue
    if (at > from) spans.push([from, at])
    from = at + 1
  }
  return spans
}
