import { type CodeKind, type Inside, type Language, languages } from './code-languages.ts'

export interface CodeWord {
  /** None: it has no colour of its own. */
  kind?: CodeKind
  text: string
}

/** Longer code has no colours. */
const longest = 50_000

/**
 * The words of code and what they are, for colours: not quite what a parser says, but in linear time whatever the text is.
 * Joined they are the text. `info` is what follows the fence. Undefined for a language that is not known, and for very long code.
 */
export function codeWords(text: string, info: string): CodeWord[] | undefined {
  const name = languageName(info)
  const [, language] = Object.entries(languages).find(([names]) => names.split(' ').includes(name)) ?? []
  if (language === undefined || text.length > longest) return undefined
  const words: CodeWord[] = []
  scan(text, language, words)
  return words
}

/** The first word of what follows the fence. */
export function languageName(info: string): string {
  return /^[\w+#.-]*/.exec(info.trim())?.[0].toLowerCase() ?? ''
}

function scan(text: string, { rules, inside, keywords = '', anyCase }: Language, words: CodeWord[]): void {
  const names = Object.keys(rules) as (keyof typeof rules)[]
  const pattern = new RegExp(names.map((name) => `(?<${name}>${rules[name]})`).join('|'), 'gu')
  const known = new Set(keywords.split(' '))
  let end = 0
  for (const { 0: found, index, groups = {} } of text.matchAll(pattern)) {
    const rule = names.find((name) => groups[name] !== undefined)
    const isKeyword = rule !== 'key' && known.has(anyCase ? found.toLowerCase() : found)
    const kind = isKeyword ? 'keyword' : rule
    if (kind === undefined || kind === 'word') continue
    if (index > end) words.push({ text: text.slice(end, index) })
    end = index + found.length
    const inner = inside?.[kind as Inside]
    if (inner === undefined) words.push({ kind: kind as CodeKind, text: found })
    else scan(found, inner, words)
  }
  if (end < text.length) words.push({ text: text.slice(end) })
}
