import { describe, expect, it } from 'vitest'
import { bootstrap } from '../../bench/retrieval/bootstrap.ts'
import { type Asked, lay } from '../../bench/retrieval/layouts.ts'

const texts = new Map([
  ['a.md', '# Tank\n\nAbout tanks.\n\n## Empty it\n\nTurn the red\nscrew.\n\n## Fill it\n\nLift the lid.\n'],
  ['b.md', `# Long\n\n${'Some words here.\n\n'.repeat(100)}The blue one.\n\n${'Words after it.\n\n'.repeat(100)}`],
])
const asked: readonly Asked[] = [
  ['drain', 'a.md', 'the red screw'],
  ['colour', 'b.md', 'THE BLUE ONE'],
  ['the same passage', 'b.md', 'blue'],
  ['only a heading says it', 'a.md', 'Empty it'],
]

describe('the layouts of the retrieval bench', () => {
  it('put each answer into a file of its own, once, without its heading', () => {
    const { documents, questions } = lay('files', texts, asked)
    const contents = new Map(documents.map(({ source, content }) => [source, content]))
    expect(questions.map(({ source }) => source)).toEqual(['answers/1.md', 'answers/2.md', 'answers/2.md', undefined])
    expect(contents.get('answers/1.md')).toBe('Turn the red\nscrew.\n')
    expect(contents.get('docs/a.md')).toMatch(/About tanks\.\s+## Fill it/)
    expect(contents.get('docs/a.md')).not.toContain('Empty it')
  })

  it('take some paragraphs of a long section', () => {
    const { documents } = lay('files', texts, asked)
    const answer = documents.find(({ source }) => source === 'answers/2.md')?.content ?? ''
    expect(answer).toMatch(/^The blue one\.\n\nWords after it\./)
    expect(answer.length).toBeLessThan(1_100)
    const rest = documents.find(({ source }) => source === 'docs/b.md')?.content ?? ''
    expect(rest).not.toContain('blue')
    expect(rest.length + answer.length).toBeGreaterThan(3_000)
  })

  it('put all answers into one file under headings that say nothing', () => {
    const { documents, questions } = lay('faq', texts, asked)
    expect(questions.map(({ source }) => source)).toEqual(['faq.md', 'faq.md', 'faq.md', undefined])
    const faq = documents.find(({ source }) => source === 'faq.md')?.content ?? ''
    expect(faq.match(/^#.*$/gm)).toEqual(['# Questions', '## Entry 1', '## Entry 2'])
    expect(faq).toContain('Turn the red\nscrew.')
  })
})

describe('the interval of a mean', () => {
  it('lies round it, is the same each time and narrows with more values', () => {
    const values = Array.from({ length: 40 }, (_, at) => at % 2)
    const few = bootstrap(values)
    expect(few.mean).toBe(0.5)
    expect(few.low).toBeLessThan(0.4)
    expect(few.high).toBeGreaterThan(0.6)
    expect(bootstrap(values)).toEqual(few)
    const many = bootstrap(Array.from({ length: 4_000 }, (_, at) => at % 2))
    expect(many.high - many.low).toBeLessThan((few.high - few.low) / 5)
  })
})
