const camelCase = /(?<=[a-z])(?=[A-Z])/g
const tokenPattern = /[a-z]+|[0-9]{1,4}|[^\P{L}a-z]+/gu
/** Nothing of it is cut. */
const oneWord = /^[A-Z]?[a-z]+$/
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
  /** The tokens of a text, in order. */
  of(text: string): readonly number[]
  /** The token of a word, or those of its pieces, the longest first. */
  ofWord(word: string): readonly number[]
}

/** `vocabulary`: words, and pieces inside a word with `##` before them; the index is the number of the token. */
export function createTokens(vocabulary: readonly string[]): Tokens {
  const words = new Map<string, number>()
  const insides = new Map<string, number>()
  let longestInside = 0
  for (const [number, token] of vocabulary.entries()) {
    if (!token.startsWith('##')) words.set(token, number)
    else {
      insides.set(token.slice(2), number)
      longestInside = Math.max(longestInside, token.length - 2)
    }
  }
  let known = new Map<string, readonly number[]>()

  const piecesOf = (given: string): number[] => {
    const word = given.slice(0, longestWord)
    const whole = words.get(word)
    if (whole !== undefined) return [whole]
    const pieces: number[] = []
    for (let from = 0; from < word.length; ) {
      const among = from === 0 ? words : insides
      let end = Math.min(word.length, from + (from === 0 ? longestPiece : longestInside))
      for (; end > from; end--) {
        const number = among.get(word.slice(from, end))
        if (number === undefined) continue
        pieces.push(number)
        break
      }
      from = Math.max(end, from + 1)
    }
    return pieces
  }

  const ofWord = (word: string): readonly number[] => {
    const found = known.get(word)
    if (found !== undefined) return found
    const pieces = piecesOf(word)
    if (known.size >= maxKnown) known = new Map()
    if (word.length <= maxRemembered) known.set(word, pieces)
    return pieces
  }

  return {
    of: (text) => (oneWord.test(text) ? ofWord(text.toLowerCase()) : tokenWords(text).flatMap(ofWord)),
    ofWord,
  }
}
