import { type CodeKind, type Language, languages } from './code-languages.ts'

export interface CodeWord {
  /** None: it has no colour of its own. */
  kind?: CodeKind
  text: string
}

/** Longer code has no colours. */
const longest = 50_000
const values = new Set('true false null undefined None True False nil nullptr NaN Infinity'.split(' '))
const capital = /^\p{Lu}/u
const byName = new Map(
  Object.entries(languages).flatMap(([names, language]) => names.split(' ').map((name) => [name, language] as const)),
)

/**
 * The words of code and what they are, for colours: not quite what a parser says, but in linear time whatever the text is.
 * Joined they are the text. `info` is what follows the fence. Undefined for a language that is not known, and for very long code.
 */
export function codeWords(text: string, info: string): CodeWord[] | undefined {
  const language = byName.get(languageName(info))
  if (language === undefined || text.length > longest) return undefined
  const words: CodeWord[] = []
  scan(text, language, words)
  return words
}

/** The first word of what follows the fence. */
export function languageName(info: string): string {
  return /^[\w+#.-]*/.exec(info.trim())?.[0].toLowerCase() ?? ''
}

function scan(text: string, language: Language, words: CodeWord[]): void {
  const { pattern, kindOf } = readerOf(language)
  let end = 0
  for (const match of text.matchAll(pattern)) {
    const [found] = match
    const after = match.index + found.length
    const kind = kindOf(match, after)
    if (kind === undefined) continue
    if (match.index > end) words.push({ text: text.slice(end, match.index) })
    end = after
    if (kind === 'tag' || kind === 'script' || kind === 'sheet') scan(found, language.inside?.[kind] ?? language, words)
    else words.push({ kind, text: found })
  }
  if (end < text.length) words.push({ text: text.slice(end) })
}

type Rule = keyof Language['rules']

interface Reader {
  pattern: RegExp
  kindOf(match: RegExpExecArray, end: number): Exclude<Rule, 'word'> | undefined
}

const readers = new Map<Language, Reader>()

function readerOf(language: Language): Reader {
  const known = readers.get(language)
  if (known !== undefined) return known
  const rules = Object.keys(language.rules) as Rule[]
  const pattern = new RegExp(rules.map((rule) => `(?<${rule}>${language.rules[rule]})`).join('|'), 'gu')
  const key = language.afterKey === undefined ? undefined : new RegExp(language.afterKey, 'uy')
  const keywords = new Set(language.keywords?.split(' '))
  const reader: Reader = {
    pattern,
    kindOf({ 0: found, groups = {}, input }, end) {
      const rule = rules.find((name) => groups[name] !== undefined)
      if (key !== undefined && (rule === 'word' || rule === 'string')) {
        key.lastIndex = end
        if (key.test(input)) return 'key'
      }
      if (rule !== 'word') return rule
      if (keywords.has(language.anyCase ? found.toLowerCase() : found)) return 'keyword'
      if (values.has(found)) return 'value'
      return language.named && (input[end] === '(' || capital.test(found)) ? 'name' : undefined
    },
  }
  readers.set(language, reader)
  return reader
}
