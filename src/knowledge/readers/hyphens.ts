/** What stands before the hyphen of a compound more often than at a line's end. */
const compounding =
  /^(?:\p{L}+ty|all|anti|co|cross|ex|full|half|high|ill|inter|long|low|mid|multi|non|off|on|over|post|pre|quasi|re|self|semi|short|sub|ultra|un|under|well)$/u
/** What many English words end with and what is no word itself. */
const ending =
  /^(?:(?:[cdlmtvz]a|tra|sa|[dns]i)?tions?|sions?|(?:[aeu]|li)?ments?|ings?|ness|(?:[sct]?[ai])?bilit(?:y|ies)|ities|ity|[ae]nces?|[ae]ncy|[cit]?ious|[at]?tives?|sives?|(?:di)?nary|[mt]ary|tory|tures?|(?:ni)?cat(?:es?|ed|ing)|[ai]cally|[ai]zed?|izing)$/
const broken = /(\p{L}+)([-\u00ad\u2010])$/u
const cutWord = /\S*\p{L}[-\u00ad\u2010]$/u
const beginning = /^(\p{Ll}[\p{L}'’]*)/u

/** Whether words are cut at the ends of lines, told by the other words of the document. */
export interface Hyphens {
  /** The line with the whole word and what is left of the next one; undefined when the hyphen may belong to the word. */
  join(line: string, next: string): [line: string, next: string] | undefined
}

/** Lines with words that are not cut. */
export function createHyphens(lines: Iterable<string>): Hyphens {
  const words = new Set<string>()
  let isCut = false
  for (const line of lines) {
    // Parts of a word that may be cut are no words.
    const whole = (isCut ? line.trimStart().replace(/^\S+/, '') : line).replace(cutWord, '')
    isCut = cutWord.test(line)
    for (const word of whole.match(/\p{L}+(?:[-\u2010]\p{L}+)*/gu) ?? []) words.add(word.toLowerCase())
  }

  const isOneWord = (left: string, mark: string, right: string): boolean => {
    if (mark === '\u00ad') return true
    if (words.has(`${left}-${right}`)) return false
    if (words.has(left + right)) return true
    return left.length > 1 && !compounding.test(left) && !words.has(right) && ending.test(right)
  }

  return {
    join(line, next) {
      const [, left, mark] = broken.exec(line) ?? []
      const right = beginning.exec(next)?.[1]
      if (left === undefined || mark === undefined || right === undefined) return undefined
      if (!isOneWord(left.toLowerCase(), mark, right.toLowerCase())) return undefined
      const [rest = ''] = /^\S*/.exec(next) ?? []
      return [line.slice(0, -mark.length) + rest, next.slice(rest.length).trimStart()]
    },
  }
}
