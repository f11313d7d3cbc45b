const wordPattern = /[\p{L}\p{N}\p{M}_]+/gu
const nonAscii = /[^\0-\x7f]/
const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/u
const casePart = /\p{Lu}+(?!\p{Ll})|\p{Lu}?[\p{Ll}\p{M}]+|\p{N}+/gu
const marks = /\p{Mn}+/gu

/**
 * The words of a text, lower case and without accents, in order. An identifier gives itself and its parts
 * (`maxRequestSize`: maxrequestsize, max, request, size); scripts without spaces give pairs of characters.
 */
export function wordsOf(text: string): string[] {
  const words: string[] = []
  if (!nonAscii.test(text)) {
    pushAsciiWords(text, words)
    return words
  }
  for (const [token] of text.normalize('NFKC').matchAll(wordPattern)) {
    const word = withoutAccents(token.toLowerCase())
    if (unspaced.test(word)) pushPairs(word, words)
    else if (word !== '') pushWord(token, word, words)
  }
  return words
}

/** Kinds of characters in ASCII words; capitals and underscores may split a word. */
const kind = { plain: 1, capital: 2, underscore: 4 }
const asciiKinds = Uint8Array.from({ length: 128 }, (_, code) => {
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

function pushWord(token: string, word: string, words: string[]): void {
  words.push(word)
  if (word === token && !token.includes('_')) return
  const parts = token.match(casePart)
  if (parts && parts.length > 1) for (const part of parts) words.push(withoutAccents(part.toLowerCase()))
}

function pushPairs(word: string, words: string[]): void {
  const characters = [...word]
  if (characters.length === 1) words.push(word)
  for (let index = 0; index + 1 < characters.length; index++) words.push(`${characters[index]}${characters[index + 1]}`)
}

function withoutAccents(word: string): string {
  return nonAscii.test(word) ? word.normalize('NFD').replace(marks, '').normalize('NFC') : word
}

/** The trigrams of a word; its ends count as spaces. */
export function trigramsOf(word: string): string[] {
  const characters = [...` ${word} `]
  const trigrams: string[] = []
  for (let at = 0; at + 3 <= characters.length; at++) trigrams.push(characters.slice(at, at + 3).join(''))
  return trigrams
}
