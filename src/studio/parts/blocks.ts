import type { Block } from '../../core/text/blocks.ts'

const fence = /^ {0,3}(`{3,32}|~{3,32})[^\n]*\n/
/** Longer code stays in pieces. */
const longestCode = 200_000
const shownAtEachEnd = 30_000

/** Adds a block; code that was cut because it is long is one block again. */
export function joinCode(blocks: string[], { text, joined }: Block): void {
  const before = blocks.at(-1)
  const begin = fence.exec(text)
  const marker = before === undefined ? undefined : fence.exec(before)?.[1]
  const isCode = joined && begin !== null && marker !== undefined && begin[1] === marker
  if (!isCode || before === undefined || before.length > longestCode) {
    if (text !== '') blocks.push(text)
    return
  }
  const end = before.lastIndexOf(`\n${marker}`)
  blocks[blocks.length - 1] = `${before.slice(0, end)}\n${text.slice(begin[0].length)}`
}

/** The blocks in the middle of a very long text, which are drawn when they are asked for: its beginning and its end are seen. */
export function gapOf(blocks: readonly string[]): { from: number; to: number; characters: number } | undefined {
  let from = 0
  for (let seen = 0; from < blocks.length && seen < shownAtEachEnd; from++) seen += blocks[from]?.length ?? 0
  let to = blocks.length
  for (let seen = 0; to > from && seen < shownAtEachEnd; to--) seen += blocks[to - 1]?.length ?? 0
  const characters = blocks.slice(from, to).reduce((sum, { length }) => sum + length, 0)
  return characters === 0 ? undefined : { from, to, characters }
}
