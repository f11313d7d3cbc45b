import { Readable } from 'node:stream'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import type { BodyContext } from '../../../src/http/body/body.ts'
import { RequestBody } from '../../../src/http/body/body.ts'
import { BodyBudget } from '../../../src/http/body/budget.ts'
import type { Incoming } from '../../../src/http/exchange.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

test.each([1, 3])('the bytes of a released body are free while its request goes on: %i pieces', async (count) => {
  const pieces = new Set<WeakRef<object>>()
  function* sent() {
    for (let piece = 0; piece < count; piece++) {
      const bytes = Buffer.from(new ArrayBuffer(100_000))
      pieces.add(new WeakRef(bytes.buffer))
      yield bytes
    }
  }
  const incoming = Object.assign(Readable.from(sent(), { objectMode: false }), {
    headers: { 'transfer-encoding': 'chunked' },
  }) as unknown as Incoming
  const budget = new BodyBudget({ totalBytes: 1e6, perCallerBytes: undefined, waitMs: 1_000 })
  const context: BodyContext = {
    maxBytes: 1e6,
    isOfRoute: false,
    timeoutMs: 10_000,
    lease: () => budget.lease('me'),
    beforeRead() {},
    onProgress() {},
  }
  const body = new RequestBody(incoming, context)
  await body.bytes().then((bytes) => pieces.add(new WeakRef(bytes.buffer)))
  expect(budget.used).toBe(count * 100_000)
  body.release()
  expect(budget.used).toBe(0)
  // A WeakRef holds its target until the present turn of the event loop ends.
  await expect
    .poll(() => {
      collectGarbage()
      return [...pieces].filter((ref) => ref.deref() !== undefined).length
    })
    .toBe(0)
  expect([body.present, incoming.destroyed]).toEqual([true, expect.any(Boolean)])
})
