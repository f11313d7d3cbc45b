/** What somebody asks, the file with the answer, and words of it: case and white space don't matter. */
export type Asked = readonly [question: string, source: string, answer: string]

export const layouts = ['files', 'faq'] as const
/** Each answer a file of its own; or all answers in one file, under headings that say nothing. */
export type Layout = (typeof layouts)[number]

export interface Laid {
  documents: { source: string; content: string }[]
  /** In the order that they were given; `source` is where the answer is in this layout, undefined when nothing has its words. */
  questions: { question: string; source: string | undefined; answer: string }[]
}

const wholeSection = 1_500
const longSection = 1_000

/**
 * Takes the passages that answer the questions out of the documents, with the headings that only they had, and puts them into
 * files of their own. What only a heading answers has no passage.
 */
export function lay(layout: Layout, texts: ReadonlyMap<string, string>, asked: readonly Asked[]): Laid {
  const passages = new Map<string, Stretch[]>()
  const found = asked.map(([question, source, answer]) => {
    const text = texts.get(source)
    const stretch = text === undefined ? undefined : passageOf(text, answer)
    if (stretch === undefined) return { question, answer, passage: undefined }
    const known = passages.get(source) ?? []
    const same = known.find((other) => stretch.start < other.end && other.start < stretch.end)
    if (same) {
      same.start = Math.min(same.start, stretch.start)
      same.end = Math.max(same.end, stretch.end)
    } else passages.set(source, [...known, stretch])
    return { question, answer, passage: same ?? stretch }
  })
  const answers = new Map<Stretch, { source: string; text: string }>()
  const documents: Laid['documents'] = []
  for (const [source, text] of texts) {
    let rest = text
    for (const passage of (passages.get(source) ?? []).toSorted((one, other) => other.start - one.start)) {
      const number = answers.size + 1
      answers.set(passage, {
        source: layout === 'faq' ? 'faq.md' : `answers/${number}.md`,
        text: text.slice(passage.start, passage.end).trim(),
      })
      const from = passage.heading ?? passage.start
      rest = `${rest.slice(0, from)}\n${rest.slice(passage.end)}`
    }
    if (rest.trim() !== '') documents.push({ source: `docs/${source}`, content: rest })
  }
  const all = [...answers.values()]
  if (layout === 'files') documents.push(...all.map(({ source, text }) => ({ source, content: `${text}\n` })))
  else {
    const entries = all.map(({ text }, at) => `## Entry ${at + 1}\n\n${text}\n`)
    documents.push({ source: 'faq.md', content: `# Questions\n\n${entries.join('\n')}` })
  }
  const questions = found.map(({ question, answer, passage }) => {
    return { question, source: passage && answers.get(passage)?.source, answer }
  })
  return { documents, questions }
}

/** For comparing texts that may be wrapped in other places. */
export function plain(text: string): string {
  return text.replace(/\s+/g, ' ').toLowerCase()
}

/** `heading` is where the heading begins that goes with the passage. */
interface Stretch {
  start: number
  end: number
  heading?: number | undefined
}

/** The section with these words without its heading; of a long one some paragraphs, from the one with the words on. */
function passageOf(text: string, answer: string): Stretch | undefined {
  const wanted = plain(answer)
  const section = sectionsOf(text).find(({ start, end }) => plain(text.slice(start, end)).includes(wanted))
  if (section === undefined || section.end - section.start <= wholeSection) return section
  const blocks = blocksOf(text, section)
  const first = blocks.findIndex(({ start, end }) => plain(text.slice(start, end)).includes(wanted))
  const from = blocks[first]
  if (from === undefined) return section
  let { end } = from
  for (const block of blocks.slice(first + 1)) {
    if (block.end - from.start > longSection) break
    end = block.end
  }
  return { start: from.start, end }
}

/** What is between two headings of Markdown. */
function sectionsOf(text: string): Stretch[] {
  const sections: Stretch[] = [{ start: 0, end: 0 }]
  eachLine(text, (line, start, end, isCode) => {
    const last = sections.at(-1)
    if (last) last.end = end
    if (isCode || !/^#{1,6}\s/.test(line)) return
    if (last) last.end = start
    sections.push({ heading: start, start: end, end })
  })
  return sections
}

/** Paragraphs, and code with its fences. */
function blocksOf(text: string, { start: first, end: last }: Stretch): Stretch[] {
  const blocks: Stretch[] = []
  let isOpen = false
  eachLine(text.slice(first, last), (line, start, end, isCode) => {
    const block = blocks.at(-1)
    if (line.trim() === '' && !isCode) isOpen = false
    else if (isOpen && block) block.end = first + end
    else {
      blocks.push({ start: first + start, end: first + end })
      isOpen = true
    }
  })
  return blocks
}

function eachLine(text: string, visit: (line: string, start: number, end: number, isCode: boolean) => void): void {
  let isCode = false
  for (let start = 0; start < text.length; ) {
    const next = text.indexOf('\n', start)
    const end = next === -1 ? text.length : next + 1
    const line = text.slice(start, end)
    const isFence = /^\s*(?:```|~~~)/.test(line)
    visit(line, start, end, isCode || isFence)
    if (isFence) isCode = !isCode
    start = end
  }
}
