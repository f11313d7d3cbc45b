import { expect, test } from 'vitest'
import { json } from '../../src/http/reply.ts'
import { encodeLarge } from '../../src/runtime/json.ts'
import { echo, get, testKernel } from './support.ts'

async function encoded(value: unknown): Promise<string> {
  const pieces: Uint8Array[] = []
  for await (const piece of encodeLarge(value)) pieces.push(piece)
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

test('a large answer comes in pieces, whatever was asked, and a small one whole', async () => {
  const large = { runs: [{ messages: [{ parts: [{ text: 'word '.repeat(200_000) }] }] }] }
  const small = { text: 'word', list: Array.from({ length: 2_000 }, (_, index) => ({ index })) }
  const kernel = testKernel([get('/large', () => json(large)), get('/small', () => json(small))])
  const ask = async (url: string) => {
    const { headers, text } = await kernel.inject({ url })
    return { length: headers['content-length'], type: headers['content-type'], text: await text() }
  }
  const type = 'application/json; charset=utf-8'
  expect(await ask('/large')).toEqual({ length: undefined, type, text: JSON.stringify(large) })
  const text = JSON.stringify(small)
  expect(await ask('/small')).toEqual({ length: String(text.length), type, text })
})
