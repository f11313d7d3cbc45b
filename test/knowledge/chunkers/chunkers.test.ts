import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { chunkers } from '../../../src/knowledge/chunkers/all.ts'
import { codeChunker } from '../../../src/knowledge/chunkers/code.ts'
import { chunkDocument } from '../../../src/knowledge/chunkers/document.ts'
import { markdownChunker } from '../../../src/knowledge/chunkers/markdown.ts'
import { paragraphChunker } from '../../../src/knowledge/chunkers/plain.ts'

const segmenter = new Intl.Segmenter('und', { granularity: 'grapheme' })
const clusterStarts = (text: string) =>
  new Set([...segmenter.segment(text)].map((segment) => segment.index).concat(text.length))
const lineOf = (text: string, at: number) => text.slice(0, at).split('\n').length

const token = fc.oneof(
  { weight: 6, arbitrary: fc.stringMatching(/^[a-z]{1,9}$/) },
  { weight: 4, arbitrary: fc.constantFrom(' ', ' ', '\n', '\n\n', '. ', '\r\n', '\r', '! ', '\t') },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      '# One\n',
      '\n## Two\n\n',
      '```\ncode\n\nmore\n```\n',
      '| a | b |\n|---|---|\n| 1 | 2 |\n',
      'Title\n===\n',
    ),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      '👨‍👩‍👧‍👦',
      '🇩🇪🇫🇷',
      'é',
      'e\u0301\u0323',
      '한국어',
      '각',
      'नमस्ते',
      'ไทย',
      '漢字。',
      '👍🏽',
      'ا\u064eب',
      '\u0600a',
      ' \u0308',
      '©️',
    ),
  },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 8 }).map((text) => text.toWellFormed()) },
)
const texts = fc
  .array(token, { minLength: 1, maxLength: 120 })
  .map((tokens) => tokens.join(''))
  .filter((text) => text.length > 0)
const settings = fc
  .integer({ min: 1, max: 120 })
  .chain((size) => fc.record({ size: fc.constant(size), overlap: fc.integer({ min: 0, max: size - 1 }) }))

describe.each(chunkers.map((chunker) => [chunker.name, chunker] as const))('the %s chunker', (_name, chunker) => {
  it('loses nothing, cuts no character a person sees, and numbers lines exactly', () => {
    fc.assert(
      fc.property(texts, settings, (text, options) => {
        const starts = clusterStarts(text)
        const spans = [...chunker.chunk(text, options)]
        let covered = 0
        let rebuilt = ''
        let last = { start: -1, end: 0 }
        for (const span of spans) {
          expect(span.start).toBeGreaterThan(last.start)
          expect(span.end).toBeGreaterThan(last.end)
          expect(span.start).toBeLessThanOrEqual(covered)
          expect(covered - span.start).toBeLessThanOrEqual(options.overlap)
          expect(starts.has(span.start) && starts.has(span.end)).toBe(true)
          const longest = [...segmenter.segment(text.slice(span.start, span.end))].length
          if (longest > 1 && span.end - span.start > options.size) {
            const beforeLast = [...segmenter.segment(text.slice(span.start, span.end))].at(-1)
            expect(beforeLast?.index ?? 0).toBeLessThanOrEqual(options.overlap)
          }
          expect(span.lineStart).toBe(lineOf(text, span.start))
          expect(span.lineEnd).toBe(lineOf(text, span.end - 1))
          rebuilt += text.slice(covered, span.end)
          covered = span.end
          last = span
        }
        expect(rebuilt).toBe(text)
      }),
      { numRuns: 400 },
    )
  })

  it('repeats the end of a piece at the start of the next', () => {
    const text = 'The quick brown fox jumps over the lazy dog. '.repeat(60)
    const spans = [...chunker.chunk(text, { size: 200, overlap: 50 })]
    expect(spans.length).toBeGreaterThan(5)
    for (const [at, span] of spans.entries()) {
      const before = spans[at - 1]
      if (before) expect(before.end - span.start).toBeGreaterThan(10)
    }
  })
})

describe('the markdown chunker in particular', () => {
  const text = [
    '# Guide',
    '',
    'Intro.',
    '',
    '## Install',
    '',
    'Run `npm`:',
    '',
    '```sh',
    'npm ci',
    '',
    'npm test',
    '```',
    '',
    '## Use',
    '',
    '### Deep',
    '',
    '| a | b |',
    '|---|---|',
    '| 1 | 2 |',
    '',
  ].join('\n')

  it('gives each piece the headings above it', () => {
    const spans = [...markdownChunker.chunk(text, { size: 1000, overlap: 100 })]
    expect(spans.map((span) => span.headingPath)).toEqual([['Guide'], ['Guide', 'Install'], ['Guide', 'Use', 'Deep']])
    expect(text.slice(spans[2]?.start, spans[2]?.end)).toContain('## Use')
  })

  it('keeps code blocks and tables whole where they fit', () => {
    const block = `\`\`\`\n${'line of code\n\n'.repeat(10)}\`\`\`\n`
    const long = `# T\n\n${'Some words here. '.repeat(20)}\n\n${block}\n${'More words. '.repeat(30)}`
    const spans = [...markdownChunker.chunk(long, { size: block.length + 20, overlap: 40 })]
    expect(spans.some((span) => long.slice(span.start, span.end).includes(block))).toBe(true)
  })

  it('cuts tables between rows, repeats whole rows, and names the columns in every piece', () => {
    const rows = Array.from({ length: 40 }, (_, at) => `| boat number ${at} | ${at * 3} euros |\n`)
    const table = `# Fees\n\n| Boat | **Fee** |\n|---|---|\n${rows.join('')}\nAfter it.\n`
    const spans = [...markdownChunker.chunk(table, { size: 300, overlap: 60 })]
    expect(spans.length).toBeGreaterThan(4)
    for (const [at, { start, headingPath }] of spans.entries()) {
      const line = table.slice(start, table.indexOf('\n', start))
      if (at > 0 && line.startsWith('| boat')) expect(headingPath).toEqual(['Fees', 'Boat | **Fee**'])
      expect(line).toMatch(at === 0 ? /^# Fees$/ : /^\| boat number \d+ \| \d+ euros \|$|^After it\.$|^$/)
      if (at > 0 && line.startsWith('| boat')) expect(start).toBeLessThan(spans[at - 1]?.end ?? 0)
    }
  })

  it('gives headings as they read, without marks and escapes', () => {
    const text = '# fn `write\\_str` \\*a\\*, *b*, [c](d)\n\ntext\n'
    const [first] = markdownChunker.chunk(text, { size: 500, overlap: 0 })
    expect(first?.headingPath).toEqual(['fn write_str *a*, b, c'])
  })

  it('takes headings inside fenced code for code', () => {
    const spans = [...markdownChunker.chunk('# A\n\n```\n# not a heading\n```\n\ntext\n', { size: 500, overlap: 0 })]
    expect(spans.map((span) => span.headingPath)).toEqual([['A']])
  })
})

describe('the code chunker in particular', () => {
  const text = [
    "import { a } from './a.ts'",
    '',
    '/** Opens the harbour. */',
    'export function open(): void {',
    '  a()',
    '}',
    '',
    'export class Harbour {',
    '  enter(',
    '    ship: string,',
    '  ): void {',
    '    a(ship)',
    '    a(ship)',
    '  }',
    '',
    '  // Ships leave at high tide.',
    '  leave(): void {',
    '    a()',
    '  }',
    '}',
    '',
  ].join('\n')

  it('begins with more than an import before a long block, and repeats whole lines', () => {
    const body = Array.from({ length: 60 }, (_, at) => `    call_number_${at}(argument, ${at})`)
    const code = `import something_or_other_x\n\nclass Long:\n${body.join('\n')}\n`
    const spans = [...codeChunker.chunk(code, { size: 500, overlap: 80 })]
    expect(spans[0]?.end).toBeGreaterThan(400)
    for (const { start } of spans.slice(1)) expect(code.slice(start - 1, start + 16)).toMatch(/^\n {4}call_number_/)
    expect(spans[1]?.start).toBeLessThan(spans[0]?.end ?? 0)
  })

  it('keeps functions whole with their comments, and says what pieces are in', () => {
    const spans = [...codeChunker.chunk(text, { size: 100, overlap: 0 })]
    const pieces = spans.map((span) => [
      text.slice(span.start, span.end).split('\n', 1)[0],
      span.headingPath?.join(' > '),
    ])
    expect(pieces).toEqual([
      ["import { a } from './a.ts'", undefined],
      ['export class Harbour {', undefined],
      ['  // Ships leave at high tide.', 'export class Harbour'],
    ])
    const small = [...codeChunker.chunk(text, { size: 45, overlap: 0 })].map((span) => span.headingPath)
    expect(small).toContainEqual(['export class Harbour', 'enter'])
  })

  it('cuts data between its members and names the keys above them', () => {
    const json = JSON.stringify({ first: { x: 'one two three' }, second: { y: { z: 'four five six seven' } } }, null, 2)
    const spans = [...codeChunker.chunk(json, { size: 50, overlap: 0 })]
    expect(spans.map((span) => json.slice(span.start, span.end).trim().split('\n', 1)[0])).toContain('"second": {')
    expect(spans.at(-1)?.headingPath).toEqual(['"second"', '"y"'])
  })
})

describe('an outline', () => {
  const text = '= Guide\n\nIntro.\n\n== Install\n\n# no heading here\n\n== Use\n\nText.\n'
  const outline = [
    { start: 0, level: 1, title: 'Guide' },
    { start: text.indexOf('== Install'), level: 2, title: 'Install' },
    { start: text.indexOf('== Use'), level: 2, title: 'Use' },
  ]

  it('takes the place of headings of Markdown', () => {
    const spans = [...markdownChunker.chunk(text, { size: 500, overlap: 0, outline })]
    expect(spans.map((span) => [span.headingPath, text.slice(span.start, span.end).split('\n', 1)[0]])).toEqual([
      [['Guide'], '= Guide'],
      [['Guide', 'Install'], '== Install'],
      [['Guide', 'Use'], '== Use'],
    ])
  })

  it('gives every other chunker heading paths too', () => {
    const spans = [...paragraphChunker.chunk(text, { size: 30, overlap: 0, outline })]
    expect(spans.map((span) => span.headingPath)).toEqual([['Guide'], ['Guide', 'Install'], ['Guide', 'Use']])
  })
})

describe('a document with pages', () => {
  it('has no piece on two pages, and lines and offsets of the whole text', () => {
    const text = 'First page.\nTwo lines.\n\n\n\nThird page, which is longer than one piece may be.\n'
    const pages = [0, text.indexOf('\n\n\n') + 2, text.indexOf('Third')]
    const read = { text, pages, start: 0, metadata: {}, chunker: 'paragraph' as const, reader: 'pdf' }
    const spans = [...chunkDocument(read, paragraphChunker, { size: 30, overlap: 0 })]
    expect(spans.map((span) => [span.page, span.lineStart, text.slice(span.start, span.end).trim()])).toEqual([
      [1, 1, 'First page.\nTwo lines.'],
      [3, 6, 'Third page, which is longer'],
      [3, 6, 'than one piece may be.'],
    ])
  })
})
