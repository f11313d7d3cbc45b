const shownAtEachEnd = 30_000

/** The blocks in the middle of a very long text, which are drawn when they are asked for: its beginning and its end are seen. */
export function gapOf(blocks: readonly string[]): { from: number; to: number; characters: number } | undefined {
  let from = 0
  for (let seen = 0; from < blocks.length && seen < shownAtEachEnd; from++) seen += blocks[from]?.length ?? 0
  let to = blocks.length
  for (let seen = 0; to > from && seen < shownAtEachEnd; to--) seen += blocks[to - 1]?.length ?? 0
  const characters = blocks.slice(from, to).reduce((sum, { length }) => sum + length, 0)
  return characters === 0 ? undefined : { from, to, characters }
}
