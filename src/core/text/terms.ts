import { pushWord, shortWordsOf } from './short-words.ts'

const nonAscii = /[^\0-\x7f]/

/**
 * The words of a text, lower case and without accents, in order. An identifier gives itself and its parts
 * (`maxRequestSize`: maxrequestsize, max, request, size); scripts without spaces give pairs of characters.
 */
export function wordsOf(text: string): string[] {
  if (nonAscii.test(text)) return shortWordsOf(text)
  const words: string[] = []
  pushAsciiWords(text, words)
  return words
}

/** Kinds of characters in ASCII words; capitals and underscores may split a word. */
const kind = { plain: 1, capital: 2, underscore: 4 }
const asciiKinds = /* @__PURE__ */ Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code)
  if (/[a-z0-9]/.test(character)) return kind.plain
  return /[A-Z]/.test(character) ? kind.capital : character === '_' ? kind.underscore : 0
})

/** Same result as the pattern, several times as fast: most texts are ASCII. */
function pushAsciiWords(text: string, words: string[]): void {
  for (let index = 0; index < text.length; ) {
    const start = index
    let kinds = 0
    for (; index < text.length; index++) {
      const found = asciiKinds[text.charCodeAt(index)] as number
      if (found === 0) break
      kinds |= found
    }
    if (index > start) {
      const token = text.slice(start, index)
      if (kinds === kind.plain) words.push(token)
      else pushWord(token, token.toLowerCase(), words)
    } else index++
  }
}

/** The trigrams of a word; its ends count as spaces. */
export function trigramsOf(word: string): string[] {
  const characters = [...` ${word} `]
  const trigrams: string[] = []
  for (let at = 0; at + 3 <= characters.length; at++) trigrams.push(characters.slice(at, at + 3).join(''))
  return trigrams
}
