import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { shippedTable } from '../../../src/knowledge/embedders/static.ts'
import { tokenScanner } from '../../../src/knowledge/embedders/static-scan.ts'
import { createTokens } from '../../../src/knowledge/embedders/static-tokens.ts'
import { seededRandom } from '../../support/seeded-random.ts'

const pieces = 'abcdefghijklmnopqrstuvwxyz'.split('').flatMap((letter) => [letter, `##${letter}`])
const tokens = createTokens([...pieces, 'max', 'request', 'size', '1048', '5', '76', 'é', '##é', 'ς', '##ς'])

function scanned(text: string, scan = tokenScanner(tokens)): number[] {
  const found: number[] = []
  scan(text, (token) => found.push(token))
  return found
}

it.each([
  '',
  'maxRequestSize HTTPServer aB Ab',
  '10485760 5a76 v2Max',
  'café–au lait Größe naïve',
  'ΟΔΟΣ aΣ Σb K 300K İstanbul',
  '\ud800a \udc00B 😀x',
  `${'x'.repeat(300)} ${'Max'.repeat(30)}`,
])('gives the tokens of %j', (text) => {
  expect(scanned(text)).toEqual(tokens.of(text))
})

it('gives the tokens of any text, also of words that it has seen', () => {
  const random = seededRandom()
  const signs = [...'aAbBzZ019 _-.–éÉßΣσςKİ中のа́Я𝔸😀\n\ud800\udc00', 'max', 'Request', 'SIZE']
  const scan = tokenScanner(tokens)
  for (let round = 0; round < 3_000; round++) {
    const text = Array.from({ length: 1 + (round % 40) }, () => signs[Math.floor(random() * signs.length)]).join('')
    expect(scanned(text, scan), JSON.stringify(text)).toEqual(tokens.of(text))
  }
})

it('gives the tokens of the shipped table for our own changelog', async () => {
  const table = await shippedTable()
  const text = readFileSync(new URL('../../../CHANGELOG.md', import.meta.url), 'utf8')
  expect(scanned(text, tokenScanner(table.tokens))).toEqual(table.tokens.of(text))
})
