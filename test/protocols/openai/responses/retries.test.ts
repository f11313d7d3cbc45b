import { expect, test } from 'vitest'
import { type Any, eventsOf, ResponseFold } from './fold.ts'
import { openResponses, textOf } from './support.ts'

const attempt = (count: number) => ({ 'x-stainless-retry-count': String(count) })

test('a request that comes again after its connection broke joins its run, also on a branch', async () => {
  const { create, open, gate, timers, services } = await openResponses()
  const root = await create({ input: 'root' })
  await create({ input: 'other', previous_response_id: root.id })
  const body = { model: 'gated', input: 'hi', previous_response_id: root.id, stream: true }
  const leaving = new AbortController()
  const first = await open(body, leaving.signal, attempt(0))
  const reader = first.body[Symbol.asyncIterator]()
  await reader.next()
  await gate.begun(0)
  leaving.abort()
  await reader.return?.()
  timers.advance(1_000)
  const second = await open(body, undefined, attempt(1))
  timers.advance(60_000)
  gate.open(0)
  expect(second.headers['x-run-id']).toBe(first.headers['x-run-id'])
  expect(textOf(ResponseFold.of(eventsOf(await second.text())).response)).toBe('ab')
  const third = await open({ ...body }, undefined, attempt(2))
  expect(third.headers['x-run-id']).toBe(first.headers['x-run-id'])
  // That of the root and that of the branch: the others were deleted again.
  expect((await services.sessions.list({}, { limit: 10 })).items).toHaveLength(2)
})

test('the same request twice is two responses when it is no retry', async () => {
  const { call } = await openResponses()
  const body = { model: 'echo', input: 'hi' }
  const [one, two] = await Promise.all([0, 0].map((count) => call('POST', '/responses', body, attempt(count))))
  expect(one?.body.id).not.toBe(two?.body.id)
})

test('a joined run that fails is told to be tried no more', async () => {
  const { call } = await openResponses()
  const ids = new Set<string | undefined>()
  for (const count of [0, 1, 2]) {
    const { status, headers }: Any = await call('POST', '/responses', { model: 'failing', input: 'hi' }, attempt(count))
    expect([status, headers['x-should-retry']]).toEqual([500, 'false'])
    ids.add(headers['x-run-id'])
  }
  expect(ids.has(undefined)).toBe(false)
})
