import { describe, expect, test } from 'vitest'
import { type Any, openMcp, shown } from './support.ts'

const at = '/api/v1'

async function runOf(url: string, runId: string): Promise<Any> {
  return (await fetch(`${url}${at}/runs/${runId}`)).json()
}
async function runsOf(url: string): Promise<Any[]> {
  return ((await (await fetch(`${url}${at}/runs`)).json()) as Any).runs
}

describe('a run that takes long', () => {
  test('is told of after wait_seconds, and its answer is got by its id', async () => {
    const { call, release } = await openMcp()
    const early = await call('ask_held', { message: 'x', wait_seconds: 1 })
    const { run_id } = shown(early)
    expect(shown(early)).toMatchObject({
      status: 'running',
      next: `Still at work; call get_run with run_id ${run_id}.`,
    })
    expect(early.isError).toBeUndefined()
    const still = await call('get_run', { run_id, wait_seconds: 1 })
    expect(shown(still).status).toBe('running')
    const late = call('get_run', { run_id })
    release()
    expect(shown(await late)).toMatchObject({ run_id, status: 'completed', answer: 'so far and done' })
    expect(shown(await call('get_run', { run_id })).answer).toBe('so far and done')
  })

  test('waits for the run before it in its session', async () => {
    const { call, release } = await openMcp()
    const { session_id } = shown(await call('ask_held', { message: 'x', wait_seconds: 1 }))
    const second = shown(await call('ask_echo', { message: 'next', session_id, wait_seconds: 1 }))
    expect(second.status).toBe('queued')
    release()
    expect(shown(await call('get_run', { run_id: second.run_id })).answer).toBe('Said next')
  })

  test('is cancelled by its tool, once', async () => {
    const { call, cancelled } = await openMcp()
    const { run_id } = shown(await call('ask_held', { message: 'x', wait_seconds: 1 }))
    const result = await call('cancel_run', { run_id })
    expect(shown(result)).toMatchObject({ run_id, status: 'cancelled', next: expect.stringContaining('requested') })
    await expect.poll(() => cancelled).toEqual([run_id])
    expect(await call('cancel_run', { run_id })).toMatchObject({ isError: true })
  })

  test('is not there when nobody has it', async () => {
    const { call } = await openMcp()
    for (const tool of ['get_run', 'answer_run', 'cancel_run']) {
      expect(await call(tool, { run_id: 'run_none' })).toMatchObject({
        isError: true,
        content: [{ text: "There is no run 'run_none'." }],
      })
    }
  })
})

describe('a host that leaves', () => {
  const active = async (url: string) => {
    await expect.poll(async () => (await runsOf(url))[0]?.status).toBe('running')
    return (await runsOf(url))[0].run_id
  }

  test('ends its run, in the protocol of 2026', async () => {
    const { url, send, cancelled } = await openMcp()
    const leaving = new AbortController()
    const sent = send('tools/call', { name: 'ask_held', arguments: { message: 'x' } }, { signal: leaving.signal })
    const runId = await active(url)
    // Its head is there long before the run ends.
    await sent
    leaving.abort()
    await expect.poll(() => cancelled).toEqual([runId])
    await expect.poll(async () => (await runOf(url, runId)).cancellation_reason).toBe('client_disconnected')
  })

  test('does not end a run that it only waits for', async () => {
    const { url, send, call, cancelled, release } = await openMcp()
    const { run_id } = shown(await call('ask_held', { message: 'x', wait_seconds: 1 }))
    const leaving = new AbortController()
    await send('tools/call', { name: 'get_run', arguments: { run_id } }, { signal: leaving.signal })
    leaving.abort()
    expect(shown(await call('get_run', { run_id, wait_seconds: 1 })).status).toBe('running')
    release()
    await expect.poll(async () => (await runOf(url, run_id)).status).toBe('completed')
    expect(cancelled).toEqual([])
  })

  test('does not end its run, in the protocol of 2025', async () => {
    const { url, connect, cancelled, release } = await openMcp()
    const client = await connect()
    const leaving = new AbortController()
    const asked = client.callTool({ name: 'ask_held', arguments: { message: 'x' } }, undefined, {
      signal: leaving.signal,
    })
    const runId = await active(url)
    leaving.abort()
    await expect(asked).rejects.toThrow()
    await client.close()
    release()
    await expect.poll(async () => (await runOf(url, runId)).status).toBe('completed')
    expect(cancelled).toEqual([])
  })
})

describe('progress', () => {
  test('is told to a host that asks for it, growing', async () => {
    const { messages } = await openMcp()
    const params = { name: 'ask_steps', arguments: { message: 'x' }, _meta: { progressToken: 'token' } }
    const told = (await messages('tools/call', params)).filter(({ method }) => method === 'notifications/progress')
    expect(told[0].params).toMatchObject({ progressToken: 'token', progress: 1, message: 'started' })
    const numbers = told.map(({ params }) => params.progress)
    expect(numbers).toEqual([...new Set(numbers)].toSorted((one, other) => one - other))
  })

  test('is told to nobody else', async () => {
    const { messages } = await openMcp()
    expect(await messages('tools/call', { name: 'ask_steps', arguments: { message: 'x' } })).toHaveLength(1)
  })

  test('comes through the SDK of 2025', async () => {
    const { connect } = await openMcp()
    const client = await connect()
    const told: Any[] = []
    await client.callTool({ name: 'ask_steps', arguments: { message: 'x' } }, undefined, {
      onprogress: (progress) => told.push(progress),
    })
    expect(told[0]).toMatchObject({ progress: 1, message: 'started' })
  })
})

test('a hundred hosts ask at once, and each gets its own answer', async () => {
  const { call } = await openMcp()
  const numbers = Array.from({ length: 100 }, (_, index) => index)
  const results = await Promise.all(numbers.map((number) => call('ask_echo', { message: `${number}` })))
  expect(results.map((result) => shown(result).answer)).toEqual(numbers.map((number) => `Said ${number}`))
  expect(new Set(results.map((result) => shown(result).session_id)).size).toBe(100)
})
