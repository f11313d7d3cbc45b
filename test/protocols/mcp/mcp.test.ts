import { expect, test } from 'vitest'
import { openMcp, shown } from './support.ts'

test('a host of 2025 and one of 2026 see the same tools, in the same order', async () => {
  const { connect, result } = await openMcp()
  const client = await connect()
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name)).toEqual([
    'ask_asks',
    'ask_cashier',
    'ask_data',
    'ask_echo',
    'ask_failing',
    'ask_held',
    'ask_long',
    'ask_steps',
    'get_run',
    'answer_run',
    'cancel_run',
  ])
  expect((await result('tools/list')).tools).toEqual(tools)
  expect(await result('tools/list')).toMatchObject({ ttlMs: 60_000, cacheScope: 'private' })
})

test('an agent answers with text, and with its run and session', async () => {
  const { connect, call } = await openMcp()
  const client = await connect()
  const first = await client.callTool({ name: 'ask_echo', arguments: { message: 'hello' } })
  expect(first.content).toEqual([{ type: 'text', text: 'Said hello' }])
  const { session_id } = shown(first)
  expect(shown(first)).toMatchObject({
    run_id: expect.stringMatching(/^run_/),
    status: 'completed',
    answer: 'Said hello',
    sources: [],
  })
  const second = await call('ask_echo', { message: 'again', session_id })
  expect(shown(second)).toMatchObject({ session_id, status: 'completed', answer: 'Said again' })
})
