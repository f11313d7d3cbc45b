import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { createFetchTransport } from '../../src/client/transport/transport.ts'
import { parseImports } from '../support/floors.ts'

const source = join(import.meta.dirname, '../../src')

test('what a browser loads of the client asks for nothing of Node', () => {
  const seen = new Set<string>()
  const outside = new Set<string>()
  const visit = (given: string) => {
    // The build exchanges these (tsdown.config.ts).
    const own = given.replace(/\.ts$/, '.browser.ts')
    const file = existsSync(own) ? own : given
    if (seen.has(file)) return
    seen.add(file)
    for (const { specifier, kind } of parseImports(readFileSync(file, 'utf8'))) {
      if (kind === 'type') continue
      if (specifier.startsWith('.')) visit(join(file, '..', specifier))
      else outside.add(specifier)
    }
  }
  visit(join(source, 'client/index.ts'))
  expect(seen.size).toBeGreaterThan(15)
  expect([...outside]).toEqual([])
})

test('reads streams that can not be iterated, and lets them go', async () => {
  let cancelled = false
  const stream = () => {
    let count = 0
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(Uint8Array.of(count++)),
      cancel() {
        cancelled = true
      },
    })
    const getReader = () => body.getReader()
    return { getReader } as unknown as ReadableStream<Uint8Array>
  }
  const fetch = async () => ({ status: 200, headers: new Headers({ 'X-One': '1' }), body: stream() })
  const { send } = createFetchTransport('http://127.0.0.1', fetch as never)
  const request = { method: 'GET', url: '/', headers: {}, signal: new AbortController().signal }
  const { headers, body } = await send(request)
  const bytes: number[] = []
  for await (const [byte] of body) {
    bytes.push(byte ?? -1)
    if (bytes.length === 3) break
  }
  expect([headers, bytes, cancelled]).toEqual([{ 'x-one': '1' }, [0, 1, 2], true])
})

test('reads the body of a fetch that gives streams of Node, and lets it go', async () => {
  const answers = [Readable.from([Uint8Array.of(1), Uint8Array.of(2), Uint8Array.of(3)]), null]
  const fetch = async () => ({ status: 200, headers: new Headers(), body: answers.shift() })
  const { send } = createFetchTransport('http://127.0.0.1', fetch as never)
  const request = { method: 'GET', url: '/', headers: {}, signal: new AbortController().signal }
  const [stream] = answers
  const bytes: number[] = []
  for await (const [byte] of (await send(request)).body) {
    bytes.push(byte ?? -1)
    if (bytes.length === 2) break
  }
  expect([bytes, stream?.destroyed]).toEqual([[1, 2], true])
  for await (const [byte] of (await send(request)).body) bytes.push(byte ?? -1)
  expect(bytes).toEqual([1, 2])
})
