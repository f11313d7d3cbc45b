import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { questions } from '../questions.ts'
import { ai } from './ai.ts'
import { pino } from './pino.ts'
import { undici } from './undici.ts'

/** A question, the file that answers it, and the beginning of the heading over the answer; '': anywhere in the file. */
export type Asked = readonly [question: string, source: string, heading: string]

/** Lines of a file, from 1, both ends included. */
interface Lines {
  from: number
  to: number
}

/** A question and the sections of a file that answer it. */
export interface Question {
  question: string
  source: string
  sections: readonly Lines[]
}

export interface QuoteSet {
  name: string
  /** The weights of the fit are chosen by these. Mistakes of quoting that any set showed were mended. */
  tuned: boolean
  texts: ReadonlyMap<string, string>
  /** As a person asks. */
  plain: readonly Question[]
  /** The headings of the documents, word for word. */
  headings: readonly Question[]
}

const root = join(import.meta.dirname, '..', '..', '..')
const packages = join(root, 'node_modules')
const mostHeadings = 60

/** Our own documentation, and the documentation of packages whose licence allows it. */
export async function readSets(): Promise<QuoteSet[]> {
  const own = [
    'docs',
    'README.md',
    'ARCHITECTURE.md',
    'CONTRIBUTING.md',
    'test/fixtures/docs',
    'bench/retrieval/corpus',
  ]
  const texts = await textsOf(root, own)
  const answered = questions.flatMap(([, question, source = '', answer = '']) => {
    const sections = answer === '' ? [] : sectionsWith(texts.get(source) ?? '', answer)
    return sections.length === 0 ? [] : [{ question, source, sections }]
  })
  return [
    { name: 'agentserve', tuned: true, texts, plain: answered, headings: headingsOf(texts) },
    await packageSet('ai', 'ai/docs', ai, true),
    await packageSet('pino', 'pino/docs', pino, false),
    await packageSet('undici', 'undici/docs/docs', undici, false),
  ]
}

async function packageSet(name: string, folder: string, asked: readonly Asked[], tuned: boolean): Promise<QuoteSet> {
  const texts = await textsOf(join(packages, folder), ['.'])
  const plain = asked.map(([question, source, heading]) => {
    const text = texts.get(source)
    if (text === undefined) throw new Error(`${name} has no ${source}`)
    if (heading === '') return { question, source, sections: [{ from: 1, to: text.split('\n').length }] }
    const at = text.split('\n').findIndex((line) => /^#+ /.test(line) && line.replace(/^#+ /, '').startsWith(heading))
    if (at === -1) throw new Error(`${source} of ${name} has no heading ${heading}`)
    return { question, source, sections: [sectionOf(text.split('\n'), at)] }
  })
  return { name, tuned, texts, plain, headings: headingsOf(texts) }
}

async function textsOf(folder: string, paths: readonly string[]): Promise<Map<string, string>> {
  const texts = new Map<string, string>()
  for (const path of paths) {
    const inside = path.endsWith('.md') ? [''] : await readdir(join(folder, path), { recursive: true })
    const sources = inside.map((name) => join(path, name)).filter((source) => /\.mdx?$/.test(source))
    for (const source of sources.sort()) texts.set(source, await readFile(join(folder, source), 'utf8'))
  }
  return texts
}

/** Headings of at least three words that no other section has and that have text below them, spread over all of them. */
function headingsOf(texts: ReadonlyMap<string, string>): Question[] {
  const all = new Map<string, Question[]>()
  for (const [source, text] of texts) {
    const lines = text.split('\n')
    let fenced = false
    for (const [at, line] of lines.entries()) {
      if (/^\s*(?:```|~~~)/.test(line)) fenced = !fenced
      const [, title] = (!fenced && /^#{2,6} (.*)$/.exec(line)) || []
      if (title === undefined) continue
      const question = title.replace(/<[^>]*>|\(#[^)]*\)/g, '').trim()
      const section = sectionOf(lines, at)
      const words = question.match(/[\p{L}\p{N}]{2,}/gu) ?? []
      if (
        words.length < 3 ||
        lines
          .slice(at + 1, section.to)
          .join('')
          .trim().length < 80
      )
        continue
      const key = words.join(' ').toLowerCase()
      all.set(key, [...(all.get(key) ?? []), { question, source, sections: [section] }])
    }
  }
  const single = [...all.values()].flatMap((same) => (same.length === 1 ? same : []))
  const step = Math.max(1, single.length / mostHeadings)
  return Array.from({ length: Math.min(mostHeadings, single.length) }, (_, n) => single[Math.floor(n * step)]).filter(
    (each) => each !== undefined,
  )
}

/** From a heading to the next of its level or above. */
function sectionOf(lines: readonly string[], at: number): Lines {
  const level = /^#*/.exec(lines[at] ?? '')?.[0].length ?? 0
  let fenced = false
  for (let next = at + 1; next < lines.length; next++) {
    const line = lines[next] ?? ''
    if (/^\s*(?:```|~~~)/.test(line)) fenced = !fenced
    const deep = /^(#+) /.exec(line)?.[1]?.length
    if (!fenced && deep !== undefined && deep <= level) return { from: at + 1, to: next }
  }
  return { from: at + 1, to: lines.length }
}

/** The sections that have these words, each from its heading to the next heading of any level. */
function sectionsWith(text: string, words: string): Lines[] {
  const lines = text.split('\n')
  const found = new Map<number, Lines>()
  for (let offset = text.indexOf(words); offset !== -1; offset = text.indexOf(words, offset + 1)) {
    const line = text.slice(0, offset).split('\n').length - 1
    let at = line
    while (at > 0 && !/^#+ /.test(lines[at] ?? '')) at--
    let to = line + 1
    while (to < lines.length && !/^#+ /.test(lines[to] ?? '')) to++
    found.set(at, { from: at + 1, to })
  }
  return [...found.values()]
}
