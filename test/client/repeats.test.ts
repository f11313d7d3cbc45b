import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Client, ClientOptions } from '../../src/client/client.ts'
import { createClient } from '../../src/client/create.ts'
import { ServerError } from '../../src/client/transport/error.ts'
import { mayRepeat, waitMsBefore } from '../../src/client/transport/retry.ts'
import { AppError } from '../../src/core/error.ts'
import { answer, openScriptedServer, type Script } from '../support/scripted-server.ts'

const closers: (() => Promise<unknown>)[] = []
afterEach(async () => {
  vi.restoreAllMocks()
  for (const close of closers.splice(0).reverse()) await close()
})

async function open(script: Script, options: Partial<ClientOptions> = {}) {
  const server = await openScriptedServer(script)
  const client = createClient({ url: server.url, ...options })
  closers.push(server.close, () => client.close())
  return { ...server, client }
}

const busy = { error: { code: 'unavailable', message: 'busy' } }
const limited = { error: { code: 'rate_limited', message: 'slow down' } }
const lost = new AppError('unavailable', 'lost')
const answered = (retryAfterSeconds?: number) =>
  new ServerError('unavailable', 'busy', { status: 503, requestId: undefined, retryAfterSeconds })

describe('the wait before a repeat', () => {
  test.each([
    ['nothing after a lost connection', lost, 0, [0, 0]],
    ['then a third of a second at most', lost, 1, [150, 300]],
    ['three times as long after each failure', lost, 2, [450, 900]],
    ['five seconds in the end', lost, 20, [2500, 5000]],
    ['a tenth of a second at most after a first refusal', answered(), 0, [50, 100]],
    ['at least as long as the server asks for', answered(7), 0, [7000, 8750]],
    ['also if it asks for the longest', answered(30), 3, [30_000, 37_500]],
  ] as const)('is %s', (_, error, failures, [least, most]) => {
    vi.spyOn(Math, 'random').mockReturnValue(0)
    expect(waitMsBefore(error, failures)).toBe(least)
    vi.spyOn(Math, 'random').mockReturnValue(1)
    expect(waitMsBefore(error, failures)).toBe(most)
  })

  test('is left to the caller when the server asks for too long', () => {
    expect(waitMsBefore(answered(31), 0)).toBeUndefined()
  })

  test('varies, so that clients which failed together do not come again together', () => {
    expect(new Set(Array.from({ length: 20 }, () => waitMsBefore(answered(2), 0))).size).toBeGreaterThan(10)
  })
})

test('what may be sent again depends on whether twice is once', () => {
  const refused = new AppError('unavailable', 'refused', { cause: { code: 'ECONNREFUSED' } })
  const tooMany = new ServerError('rate_limited', 'slow down', { status: 429, requestId: undefined })
  const failed = new ServerError('run_failed', 'no', { status: 500, requestId: undefined })
  const late = new ServerError('request_timeout', 'late', { status: 408, requestId: undefined })
  const table = [lost, answered(), refused, tooMany, late, failed].map((error) =>
    (['safe', 'keyed', 'never'] as const).map((repeat) => mayRepeat(error, repeat)),
  )
  expect(table).toEqual([
    [true, true, false],
    [true, true, false],
    [true, true, true],
    [true, true, true],
    [true, false, false],
    [false, false, false],
  ])
})

describe('Retry-After', () => {
  beforeEach(() => {
    vi.spyOn(Math, 'random').mockReturnValue(0)
  })

  test.each([
    ['429', limited, 429],
    ['503', busy, 503],
  ])('of a %s is waited for, in seconds and as a date', async (_, body, status) => {
    const times: number[] = []
    const { client } = await open((_request, response, index) => {
      times.push(performance.now())
      // A date has whole seconds, so this one is between one and two of them away.
      const date = new Date(Math.ceil(Date.now() / 1000) * 1000 + 1000).toUTCString()
      if (index < 2) answer(response, status, body, { 'retry-after': index === 0 ? '1' : date })
      else answer(response, 200, { agents: [], count: 0 })
    })
    await client.agents.list()
    const [first = 0, second = 0, third = 0] = times
    expect(second - first).toBeGreaterThan(990)
    expect(third - second).toBeGreaterThan(990)
  })

  test.each(['60', 'Fri, 31 Dec 2100 23:59:59 GMT'])('of %s is left to the caller, who is told', async (retryAfter) => {
    const { client, seen } = await open((_request, response) =>
      answer(response, 429, limited, { 'retry-after': retryAfter }),
    )
    const error = (await client.agents.list().catch((caught: unknown) => caught)) as AppError
    expect(error.code).toBe('rate_limited')
    expect(error.retryAfterSeconds).toBeGreaterThanOrEqual(60)
    expect(seen).toHaveLength(1)
  })

  test('does not outlast the time limit of the call', async () => {
    const { client } = await open((_request, response) => answer(response, 503, busy, { 'retry-after': '20' }), {
      timeoutMs: 100,
    })
    await expect(client.agents.list()).rejects.toMatchObject({ code: 'timeout' })
  })
})

test.each<[string, (client: Client) => Promise<unknown>]>([
  ['cancelling', (client) => client.runs.cancel('run_1')],
  ['resuming', (client) => client.runs.resume('run_1')],
  ['deleting', (client) => client.sessions.delete('ses_1')],
])('%s is sent again only when it was not taken', async (_, call) => {
  const { client, seen } = await open((_request, response, index) => {
    if (index === 0) answer(response, 429, limited)
    else answer(response, 503, busy)
  })
  await expect(call(client)).rejects.toMatchObject({ code: 'unavailable', status: 503 })
  expect(seen).toHaveLength(2)
})

test('every repeat of a call has its key, and every call another one', async () => {
  const { client, seen } = await open((_request, response, index) => {
    if (index % 2 === 0) response.destroy()
    else answer(response, 201, { session_id: 'ses_1' })
  })
  await client.sessions.create()
  await client.sessions.create()
  await client.sessions.create({}, { idempotencyKey: 'my-own' })
  const keys = seen.map(({ headers }) => headers['idempotency-key'])
  expect([keys[0], keys[2], keys[4]]).toEqual([keys[1], keys[3], 'my-own'])
  expect(new Set(keys).size).toBe(3)
})

test('an earlier request with the same key is waited for, however often', async () => {
  const message = 'A request with this idempotency key is still in progress. Retry later.'
  const { client, seen } = await open(
    (_request, response, index) => {
      if (index === 0) response.destroy()
      else if (index < 3) answer(response, 409, { error: { code: 'conflict', message } }, { 'retry-after': '0' })
      else answer(response, 201, { session_id: 'ses_1' })
    },
    { retries: 1 },
  )
  expect(await client.sessions.create()).toEqual({ session_id: 'ses_1' })
  expect(seen).toHaveLength(4)
})

test('any other conflict is the answer', async () => {
  const { client, seen } = await open((_request, response) =>
    answer(response, 409, { error: { code: 'conflict', message: 'taken' } }),
  )
  await expect(client.sessions.create()).rejects.toMatchObject({ code: 'conflict', message: 'taken' })
  expect(seen).toHaveLength(1)
})
