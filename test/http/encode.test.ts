import { expect, test } from 'vitest'
import { encodeInTurns } from '../../src/http/encode.ts'
import { echo, testKernel } from './support.ts'

async function encoded(value: unknown): Promise<string> {
  const pieces: Uint8Array[] = []
  for await (const piece of encodeInTurns(value)) pieces.push(piece)
  return Buffer.concat(pieces).toString()
}

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
