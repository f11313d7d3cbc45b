import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import { principalComponents } from '../../scripts/embedding/components.ts'
import { readSource } from '../../scripts/embedding/corpus.ts'
import { evaluate } from '../../scripts/embedding/evaluate.ts'
import { createKernels } from '../../scripts/embedding/kernels.ts'
import type { Document } from '../../scripts/embedding/markup.ts'
import { quantise, restore } from '../../scripts/embedding/quantise.ts'
import { createRandom } from '../../scripts/embedding/random.ts'
import { groupsOf, rowsOf } from '../../scripts/embedding/rows.ts'
import { sectionsOf } from '../../scripts/embedding/sections.ts'
import { hashOf, readSources } from '../../scripts/embedding/sources.ts'
import { train } from '../../scripts/embedding/train.ts'
import { chooseVocabulary } from '../../scripts/embedding/vocabulary.ts'
import { writeTable } from '../../src/knowledge/embedders/static-table.ts'
import { createTokens } from '../../src/knowledge/embedders/static-tokens.ts'

const topics = ['harbour', 'engine', 'garden', 'kitchen', 'weather', 'library']
const said = ['opens', 'closes', 'repairs', 'measures', 'paints']
/** Sections whose bodies say in other words what their headings say. */
function corpus(name: string): Document[] {
  const sections = topics.flatMap((topic) =>
    said.map((verb, at) => {
      const rest = said.map((other) => `The ${name} ${topic}keeper often ${other} things.`).join(' ')
      return { path: ['Guide', `${verb} ${topic} ${at}`], text: `A ${topic}keeper ${verb}ly works here.\n${rest}` }
    }),
  )
  return [{ title: 'Guide', description: 'How people work', sections }]
}

function trainTiny(seed: number): Buffer {
  const sources = new Map(['north', 'south', 'west'].map((name) => [name, corpus(name)]))
  const vocabulary = chooseVocabulary([...sources.values()], 400)
  const tokens = createTokens(vocabulary)
  const rows = new Map([...sources].map(([name, documents]) => [name, rowsOf(documents, tokens)]))
  const groups = groupsOf(rows, 'glosses', vocabulary.length)
  const losses: number[] = []
  const progress = (_: number, loss: number) => losses.push(loss)
  const settings = { steps: 60, dimensions: 16, batch: 32, groupsPerBatch: 1, seed, progress }
  const table = train({ groups, tokens, vocabularySize: vocabulary.length, ...settings })
  expect(losses.at(-1)).toBeLessThan((losses[0] ?? 0) - 0.1)
  return writeTable({ vocabulary, dimensions: 8, ...quantise(principalComponents(table, 16, 8), 8) })
}

describe('training', () => {
  it('gives the same bytes twice, and others for another seed', () => {
    const first = trainTiny(1)
    expect(hashOf(trainTiny(1))).toBe(hashOf(first))
    expect(hashOf(trainTiny(2))).not.toBe(hashOf(first))
  })

  it('is measured by where the section of a heading is found', () => {
    const vocabulary = ['[s]', ...'abcdefghijklmnop']
    const tokens = createTokens(vocabulary)
    const sections = ['a b c d', 'e f g h', 'i j k l'].map((heading) => ({
      path: [heading],
      text: `${heading} `.repeat(5),
    }))
    const rows = rowsOf([{ title: 't', description: '', sections }], tokens)
    const units = new Float32Array(17 * 17)
    for (let at = 0; at < 17; at++) units[at * 18] = 1
    expect(evaluate(rows, units, 17, 17)).toEqual({ questions: 3, bm25: 1, table: 1, both: 1 })
  })
})

describe('the kernels', () => {
  it('multiply as plain loops do', () => {
    const [rows, columns, depth] = [8, 16, 12]
    const random = createRandom(7)
    const kernels = createKernels(1 << 16)
    const values = new Float32Array(kernels.memory.buffer)
    const left = Float32Array.from({ length: rows * depth }, random.normal)
    const right = Float32Array.from({ length: depth * columns }, random.normal)
    for (const [at, value] of left.entries()) {
      const [row, step] = [Math.floor(at / depth), at % depth]
      values[(row - (row % 4)) * depth + step * 4 + (row % 4)] = value
    }
    for (const [at, value] of right.entries()) {
      const [step, column] = [Math.floor(at / columns), at % columns]
      values[1_000 + (column - (column % 8)) * depth + step * 8 + (column % 8)] = value
    }
    kernels.multiply(0, 4_000, 8_000, columns * 4, depth, rows, columns)
    for (let row = 0; row < rows; row++)
      for (let column = 0; column < columns; column++) {
        let sum = 0
        for (let step = 0; step < depth; step++)
          sum += (left[row * depth + step] ?? 0) * (right[step * columns + column] ?? 0)
        expect(values[2_000 + row * columns + column]).toBeCloseTo(sum, 4)
      }
  })

  it('add and go down a slope as Adam does', () => {
    const kernels = createKernels(1 << 16)
    const values = new Float32Array(kernels.memory.buffer)
    values.set([1, 2, 3, 4, 1, 1, 2, -2])
    kernels.addScaled(0, 16, 0.5, 4)
    expect([...values.subarray(0, 4)]).toEqual([1.5, 2.5, 4, 3])
    kernels.adam(0, 16, 32, 48, 4, 1, 1)
    const expected = [1, 1, 2, -2].map((slope, at) => {
      const [mean, square] = [0.1 * slope, 0.01 * slope * slope]
      return ([1.5, 2.5, 4, 3][at] ?? 0) - mean / (Math.sqrt(square) + 1e-8)
    })
    for (const [at, value] of expected.entries()) expect(values[at]).toBeCloseTo(value, 5)
    expect([...values.subarray(4, 8)]).toEqual([0, 0, 0, 0])
  })
})

describe('components', () => {
  it('keep the lengths and angles of rows that lie in fewer dimensions', () => {
    const random = createRandom(3)
    const plane = Array.from({ length: 2 }, () => Float32Array.from({ length: 6 }, random.normal))
    const table = new Float32Array(60)
    for (let row = 0; row < 10; row++) {
      const [a, b] = [random.normal(), random.normal()]
      for (let at = 0; at < 6; at++) table[row * 6 + at] = a * (plane[0]?.[at] ?? 0) + b * (plane[1]?.[at] ?? 0)
    }
    const small = principalComponents(table, 6, 2)
    const product = (values: Float32Array, size: number, one: number, other: number) =>
      Array.from({ length: size }, (_, at) => (values[one * size + at] ?? 0) * (values[other * size + at] ?? 0)).reduce(
        (sum, each) => sum + each,
      )
    for (const [one, other] of [[0, 0] as const, [1, 5] as const, [9, 3] as const])
      expect(product(small, 2, one, other)).toBeCloseTo(product(table, 6, one, other), 4)
    const { scales, values } = quantise(small, 2)
    for (const [at, value] of restore(scales, values, 2).entries())
      expect(Math.abs(value - (small[at] ?? 0))).toBeLessThanOrEqual((scales[at >> 1] ?? 0) * 0.51)
  })
})

/** A compressed tar archive; undefined is a link. Paths over 100 bytes are in records of their own, as GNU tar has them. */
function packed(files: Record<string, string | undefined>): Buffer {
  const record = (path: string, type: string, content: string) => {
    const body = Buffer.from(content)
    const head = Buffer.alloc(512)
    head.write(path.slice(0, 100))
    head.write(body.length.toString(8).padStart(11, '0'), 124)
    head.write(type, 156)
    return Buffer.concat([head, body, Buffer.alloc((512 - (body.length % 512)) % 512)])
  }
  const records = Object.entries(files).flatMap(([path, content]) => [
    ...(path.length > 100 ? [record('././@LongLink', 'L', `${path}\0`)] : []),
    record(path, content === undefined ? '2' : '0', content ?? ''),
  ])
  return gzipSync(Buffer.concat([...records, Buffer.alloc(1024)]))
}

describe('sections', () => {
  it('of Markdown, reStructuredText, HTML and manual pages have their headings and plain text', () => {
    const md = sectionsOf('a.md', '---\ntitle: T\n---\n# One\nSee [it](x).\n\n```sh\n# no heading\n```\n## Two\n**b**')
    expect(md).toMatchObject({ title: 'T', sections: [{ text: '' }, { path: ['One'] }, { path: ['One', 'Two'] }] })
    expect(md.sections[1]?.text).toMatch(/^See it\.\s+# no heading/)
    const rst = sectionsOf('a.rst', 'One\n===\n:ref:`text <target>` here\n\nTwo\n---\nmore')
    expect(rst.sections.slice(1)).toEqual([
      { path: ['One'], text: 'text here' },
      { path: ['One', 'Two'], text: 'more' },
    ])
    const html = sectionsOf('a.html', '<title>T — Site</title><h1>One&amp;all¶</h1><p>a &lt;b&gt;<h2>2.1 Two</h2>c')
    expect(html).toMatchObject({
      title: 'T',
      sections: [
        { path: ['One&all'], text: 'a <b>' },
        { path: ['One&all', 'Two'], text: 'c' },
      ],
    })
    const man = sectionsOf(
      'usr/share/man/man1/a.1.gz',
      '.TH A 1\n.SH OPTIONS\nAll.\n.TP\n\\fB\\-x\\fR\nSorts.\n.SH AUTHOR\nMe',
    )
    expect(man.sections.filter(({ text }) => text)).toEqual([
      { path: ['options'], text: 'All.' },
      { path: ['options', '-x'], text: 'Sorts.' },
    ])
  })

  it('of a package leave out repetitions, other languages, held-out projects, copyleft files and links', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'package-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    const long = 'It says how the settings of the program are kept, where they are, and who may change them.'
    const deep = 'package/a-folder-with-a-long-name/'.repeat(4)
    const archive = join(folder, 'p.tgz')
    await writeFile(
      archive,
      packed({
        'package/docs/a.md': `# A\n${long}\n# B\n${long}\n# C\nshort\n# D\n${'日本'.repeat(60)}`,
        'package/docs/b.md': `# E\nRestic is another program. ${long}\n# Syncthing\n${long}!!! And more.`,
        'package/docs/c.md': `# F\n${long} And this.\n\nUnder the GNU Free Documentation License.`,
        'package/docs/CHANGELOG.md': `# G\n${long} And that.`,
        'package/docs/link.md': undefined,
        [`${deep}z.md`]: `# H\nDeep down in folders. ${long}`,
      }),
    )
    const source = { name: 'p', kind: 'npm', version: '1', archive: 'p.tgz', sha256: '', licence: 'MIT' } as const
    const found = await readSource(source, archive)
    expect(found.flatMap(({ sections }) => sections)).toEqual([
      { path: ['H'], text: `Deep down in folders. ${long}` },
      { path: ['A'], text: long },
    ])
  })

  it('come from packages that are pinned, under licences that allow it', async () => {
    const sources = await readSources()
    expect(new Set(sources.map(({ name }) => name)).size).toBe(sources.length)
    for (const { name, sha256, licence, version } of sources) {
      expect(sha256, name).toMatch(/^[0-9a-f]{64}$/)
      expect(version, name).not.toBe('')
      expect(licence, name).not.toMatch(/GPL|GFDL|CC-BY-SA/i)
    }
    expect(sources.filter(({ isHeldBack }) => isHeldBack).length).toBeGreaterThanOrEqual(3)
  })
})
