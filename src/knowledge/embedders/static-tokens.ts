const camelCase = /(?<=[a-z])(?=[A-Z])/g
const tokenPattern = /[a-z]+|[0-9]{1,4}|[^\P{L}a-z]+/gu
const longestPiece = 16
const maxKnown = 100_000
/** Longer ones are data, of which the beginning is enough. */
const longestWord = 100
/** Long words are rare in texts and common in data. */
const maxRemembered = 40

/** The words of a text as the table of tokens knows them: lower case, identifiers in their parts. */
export function tokenWords(text: string): string[] {
  return text.replace(camelCase, ' ').toLowerCase().match(tokenPattern) ?? []
}

export interface Tokens {
  /** The tokens of a text, in order; a word that has none of its own becomes pieces, the longest first. */
  of(text: string): number[]
}

/** `vocabulary`: words, and pieces inside a word with `##` before them; the index is the number of the token. */
export function createTokens(vocabulary: readonly string[]): Tokens {
  const numbers = new Map(vocabulary.map((word, index) => [word, index]))
  let known = new Map<string, readonly number[]>()

  const piecesOf = (given: string): number[] => {
    const word = given.slice(0, longestWord)
    const whole = numbers.get(word)
    if (whole !== undefined) return [whole]
    const pieces: number[] = []
    for (let from = 0; from < word.length; ) {
      let end = Math.min(word.length, from + longestPiece)
      for (; end > from; end--) {
        const number = numbers.get((from > 0 ? '##' : '') + word.slice(from, end))
        if (number === undefined) continue
        pieces.push(number)
        break
      }
      from = Math.max(end, from + 1)
    }
    return pieces
  }

  return {
    of(text) {
      const tokens: number[] = []
      for (const word of tokenWords(text)) {
        let pieces = known.get(word)
        if (pieces === undefined) {
          pieces = piecesOf(word)
          if (known.size >= maxKnown) known = new Map()
          if (word.length <= maxRemembered) known.set(word, pieces)
        }
        for (const piece of pieces) tokens.push(piece)
      }
      return tokens
    },
  }
}
