import type { Tokens } from '../../src/knowledge/embedders/static-tokens.ts'
import type { Document } from './markup.ts'

type Ids = readonly number[] | Int32Array

/** A section in tokens; a 0 ends each sentence of the body. */
export interface Row {
  heading: Ids
  headingText: string
  /** The heading above, or the title. */
  parent: Ids
  title: Ids
  /** Of the document; empty but for its first section. */
  description: Ids
  body: Int32Array
}

export interface Group {
  name: string
  rows: Row[]
  /** Rarity of each token among the rows. */
  idf: Float32Array
  /** A gloss is one sentence: none can be taken out of it. */
  hasSentences: boolean
}

const sentences = /(?<=[.!?:])\s+|\n/
const fewRows = 300
const sharedRows = 3_000

export function rowsOf(documents: readonly Document[], tokens: Tokens, minTokens = 12): Row[] {
  const rows: Row[] = []
  for (const document of documents) {
    const title = tokens.of(document.title)
    const description = tokens.of(document.description)
    for (const [at, { path, text }] of document.sections.entries()) {
      const body: number[] = []
      for (const sentence of text.split(sentences)) {
        const found = tokens.of(sentence)
        if (found.length > 0) body.push(...found, 0)
      }
      if (body.length < minTokens) continue
      const headingText = path.at(-1) ?? ''
      rows.push({
        headingText,
        heading: path.length > 0 ? tokens.of(headingText) : title,
        parent: path.length > 1 ? tokens.of(path.at(-2) ?? '') : title,
        title,
        description: at === 0 ? description : [],
        body: Int32Array.from(body),
      })
    }
  }
  return rows
}

/** Groups of rows that a batch takes neighbours from; sources of few sections share one. */
export function groupsOf(sources: ReadonlyMap<string, Row[]>, glosses: string, vocabularySize: number): Group[] {
  const groups = new Map<string, Row[]>()
  let shared = 0
  for (const [name, rows] of sources) {
    if (rows.length >= fewRows) {
      groups.set(name, rows)
      continue
    }
    if ((groups.get(`shared ${shared}`)?.length ?? 0) > sharedRows) shared++
    groups.set(`shared ${shared}`, [...(groups.get(`shared ${shared}`) ?? []), ...rows])
  }
  return [...groups].map(([name, rows]) => ({
    name,
    rows,
    idf: rarity(
      rows.map(({ body }) => body),
      vocabularySize,
    ),
    hasSentences: name !== glosses,
  }))
}

export function rarity(bodies: readonly Int32Array[], vocabularySize: number): Float32Array {
  const counts = new Uint32Array(vocabularySize)
  const lastIn = new Int32Array(vocabularySize).fill(-1)
  for (const [at, body] of bodies.entries())
    for (const token of body) {
      if (lastIn[token] === at) continue
      lastIn[token] = at
      counts[token] = (counts[token] as number) + 1
    }
  return Float32Array.from(counts, (count) => Math.log(1 + bodies.length / (count + 0.5)))
}
