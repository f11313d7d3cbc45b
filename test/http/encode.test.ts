import fc from 'fast-check'
import { expect, test } from 'vitest'
import { encodeInTurns } from '../../src/http/encode.ts'
import { echo, testKernel } from './support.ts'

async function encoded(value: unknown): Promise<string> {
  const pieces: Uint8Array[] = []
  for await (const piece of encodeInTurns(value)) pieces.push(piece)
  return Buffer.concat(pieces).toString()
}

test('a value made in turns is what JSON.stringify makes of it', async () => {
  await fc.assert(
    fc.asyncProperty(fc.jsonValue({ maxDepth: 8 }), async (value) => {
      expect(await encoded(value)).toBe(JSON.stringify(value))
    }),
  )
  const odd = { a: undefined, b: [undefined, new Date(0)], c: {}, d: [], e: { f: undefined }, '"': Number.NaN }
  expect(await encoded(odd)).toBe(JSON.stringify(odd))
  expect(await encoded(undefined)).toBe('null')
  const wide = Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`k${index}`, index]))
  expect(await encoded({ wide, long: ['é'.repeat(3_000_000)] })).toBe(
    JSON.stringify({ wide, long: ['é'.repeat(3_000_000)] }),
  )
})

test('others have their turn while it is made', async () => {
  let turns = 0
  const count = setInterval(() => turns++, 0)
  await encoded({ texts: Array.from({ length: 4 }, () => 'x'.repeat(3_000_000)) })
  clearInterval(count)
  expect(turns).toBeGreaterThan(0)
})

test('a large body is answered as a small one is', async () => {
  const value = { text: 'é"\n'.repeat(400_000), rest: [1, null, { a: 'b' }] }
  const answer = await testKernel([echo]).inject({
    method: 'POST',
    url: '/echo',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(value),
  })
  expect([answer.status, answer.headers['content-type']]).toEqual([200, 'application/json; charset=utf-8'])
  expect(await answer.text()).toBe(JSON.stringify({ value }))
})
