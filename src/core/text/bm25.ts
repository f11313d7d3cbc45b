/** Words that count as one, such as the forms of a word. */
export interface WordGroup {
  words: readonly string[]
  /** How many texts of the collection have any of them; when unknown, their share in the given texts counts. */
  texts?: number | undefined
  weight: number
}

export interface WordsOfText {
  body: readonly string[]
  headings: readonly string[]
}

const saturation = 1.2
const lengthShare = 0.75
const headingWeight = 1.5

/** The BM25 score of each text, which is one of `total`. Lengths are compared with the given texts. */
export function scoreByWords(texts: readonly WordsOfText[], groups: readonly WordGroup[], total: number): number[] {
  const groupsOf = new Map<string, number[]>()
  for (const [at, { words }] of groups.entries())
    for (const word of words) groupsOf.set(word, [...(groupsOf.get(word) ?? []), at])
  const counts = texts.map(({ body, headings }) => {
    const count = new Float64Array(groups.length)
    for (const word of body) for (const at of groupsOf.get(word) ?? none) count[at] = (count[at] as number) + 1
    for (const word of headings)
      for (const at of groupsOf.get(word) ?? none) count[at] = (count[at] as number) + headingWeight
    return count
  })
  const lengths = texts.map(({ body, headings }) => body.length + headings.length)
  const usual = lengths.reduce((sum, length) => sum + length, 0) / texts.length
  const rarities = groups.map(({ texts: known, weight }, at) => {
    const having = known ?? (counts.filter((count) => count[at] !== 0).length / texts.length) * total
    const others = Math.max(0, total - having)
    return weight * Math.log(1 + (others + 0.5) / (having + 0.5))
  })
  return counts.map((count, text) => {
    const damping = saturation * (1 - lengthShare + (lengthShare * (lengths[text] as number)) / usual)
    return count.reduce((sum, times, at) => {
      return times === 0 ? sum : sum + ((rarities[at] as number) * times * (saturation + 1)) / (times + damping)
    }, 0)
  })
}

const none: readonly number[] = []
