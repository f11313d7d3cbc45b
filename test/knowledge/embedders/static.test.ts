import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TermFrequencies } from '../../../src/core/knowledge/drivers.ts'
import { loadTable, shippedTable, staticEmbedder, staticEmbedding } from '../../../src/knowledge/embedders/static.ts'
import { readTable, writeTable } from '../../../src/knowledge/embedders/static-table.ts'
import { createTokens, tokenWords } from '../../../src/knowledge/embedders/static-tokens.ts'

const shipped = join(import.meta.dirname, '../../../src/knowledge/embedders/static-table.bin')
const dot = (one: Float32Array, other: Float32Array) =>
  one.reduce((sum, value, at) => sum + value * (other[at] ?? 0), 0)

describe('tokens', () => {
  const vocabulary = ['[s]', 'a', 'b', '##b', 'config', 'file', '##file', '42', '##ing']
  const tokens = createTokens(vocabulary)
  const named = (text: string) => tokens.of(text).map((number) => vocabulary[number])

  it('are of words in lower case, of the parts of identifiers and of at most four digits', () => {
    expect(tokenWords('maxRequestSize is 10485760, größer ÄÖ snake_case HTTPServer')).toEqual(
      'max request size is 1048 5760 gr öß er äö snake case httpserver'.split(' '),
    )
    expect(tokenWords(' –!?\u0000\ud800 ')).toEqual([])
  })

  it('are the longest pieces of a word that has none of its own, and skip what is in no piece', () => {
    expect(named('configFile configfile filing ab xxb 42')).toEqual(
      'config file config ##file ##ing a ##b ##b 42'.split(' '),
    )
    expect(named('日本語 [s] ##b')).toEqual(['b'])
  })

  it('of a very long word are those of its beginning', () => {
    expect(tokens.of(`${'ab'.repeat(1_000_000)} file`)).toEqual([...tokens.of('ab'.repeat(50)), 5])
  })
})

describe('the file of a table', () => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'table-'))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  const small = {
    vocabulary: ['[s]', 'straße', '##x'],
    dimensions: 2,
    scales: Float32Array.of(0, 0.5, 2),
    values: Int8Array.of(0, 0, 127, -127, 1, -1),
  }

  it('gives what was written', () => {
    const table = readTable(writeTable(small))
    expect(table).toMatchObject({ dimensions: 2, scales: small.scales, values: small.values })
    expect(table.tokens.of('straße')).toEqual([])
    expect(table.tokens.of('x')).toEqual([])
  })

  it('is refused with the reason when it is cut off, changed, of another kind or of another size', async () => {
    const whole = await readFile(shipped)
    const changed = Buffer.from(whole)
    changed[whole.length - 5] = (changed[whole.length - 5] ?? 0) ^ 1
    const told: [string, Uint8Array, string][] = [
      ['empty', new Uint8Array(), 'it is not a table of tokens'],
      ['other', Buffer.from('version https://git-lfs'.padEnd(200)), 'it is not a table of tokens'],
      ['head', whole.subarray(0, 24), 'it has 24 bytes instead of'],
      ['cut', whole.subarray(0, whole.length - 1), 'bytes instead of'],
      ['longer', Buffer.concat([whole, Buffer.from('x')]), 'bytes instead of'],
      ['changed', changed, 'its checksum is wrong'],
      ['small', writeTable(small), `it has 2 dimensions instead of ${staticEmbedding.dimensions}`],
    ]
    for (const [name, bytes, reason] of told) {
      const file = join(folder, name)
      await writeFile(file, bytes)
      await expect(loadTable(file), name).rejects.toMatchObject({
        code: 'unavailable',
        message: expect.stringContaining(reason),
      })
    }
    await expect(loadTable(join(folder, 'none'))).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(/The embedder 'static' can't be used.*ENOENT.*Install agentserve again\./),
    })
  })

  it('that is shipped has at most 8 MB', async () => {
    expect((await readFile(shipped)).length).toBeLessThanOrEqual(8_000_000)
  })
})

describe('the static embedder', () => {
  const none = async (): Promise<TermFrequencies> => ({ chunks: 100, words: new Map(), trigrams: new Map() })
  const open = async () => staticEmbedder(await shippedTable())
  const similarity = async (one: string, other: string) => {
    const [first, second] = await (await open()).embedTexts([one, other])
    return dot(first ?? new Float32Array(), second ?? new Float32Array())
  }

  it('gives vectors of length 1 in the dimensions that it says, and zeros for a text without words', async () => {
    const embedder = await open()
    const [vector, again, empty] = await embedder.embedTexts(['the harbour at night', 'the harbour at night', ' …!'])
    expect(vector).toHaveLength(embedder.embedding.dimensions)
    expect(dot(vector ?? new Float32Array(), vector ?? new Float32Array())).toBeCloseTo(1, 5)
    expect(again).toEqual(vector)
    expect(empty?.every((value) => value === 0)).toBe(true)
  })

  it.each([
    ['how do I remove a user account', 'delete accounts of users', 'the port on which the server listens'],
    ['the connection was refused', 'could not connect to the host', 'fonts and colours of headings'],
    ['where are backups kept', 'archives are stored in the repository', 'press a key to scroll the window'],
    ['make the program faster', 'improve performance of the application', 'licence of the documentation'],
  ])('finds %j more like %j than %j, without a word in common', async (question, answer, other) => {
    expect(await similarity(question, answer)).toBeGreaterThan((await similarity(question, other)) + 0.1)
  })

  it('weights the words of a query by their rarity in the collection', async () => {
    const embedder = await open()
    const counted = (common: string) => async (words: string[]) => ({
      chunks: 1_000,
      words: new Map(words.map((word) => [word, word === common ? 999 : 1])),
      trigrams: new Map(),
    })
    const [password = new Float32Array()] = await embedder.embedTexts(['password'])
    const rare = await embedder.embedQuery('password server', counted('server'))
    const common = await embedder.embedQuery('password server', counted('password'))
    expect(dot(rare, password)).toBeGreaterThan(dot(common, password) + 0.2)
    expect((await embedder.embedQuery('日本', none)).every((value) => value === 0)).toBe(true)
  })

  it('stops when it is told to', async () => {
    const stop = new AbortController()
    const embedding = (await open()).embedTexts(Array<string>(2_000).fill('some words'), stop.signal)
    stop.abort(new Error('enough'))
    await expect(embedding).rejects.toThrow()
  })
})
