import { expect, test } from 'vitest'
import { createClient, type LiveEvent } from '../../src/client/index.ts'
import type { EmittedEvent } from '../../src/core/event.ts'
import { agent } from '../../src/runnables/agent/agent.ts'
import { team } from '../../src/runnables/team/team.ts'
import { eventsOf, serveAgents } from '../runnables/agent-server.ts'

const million = { input_tokens: 1_000_000, output_tokens: 0, total_tokens: 1_000_000 }

/** An agent whose code calls this model once. */
const calling = (model: string) =>
  agent({
    sideEffects: false,
    async *run(): AsyncGenerator<string | EmittedEvent> {
      yield { type: 'model_call_start', call_id: 'c', model }
      yield { type: 'model_call_end', call_id: 'c', usage: million, finish_reason: 'stop', duration_ms: 1, cost: null }
      yield 'done'
    },
  })

const open = () =>
  serveAgents({
    mini: calling('openai/gpt-4o-mini'),
    unknown: calling('acme/secret-1'),
    local: calling('ollama/qwen3:8b'),
    both: team({ mode: 'sequence', members: ['mini', 'local'] }),
    mixed: team({ mode: 'sequence', members: ['mini', 'unknown'] }),
  })

test('a run with others inside it costs what they cost together, or nothing is known of it', async () => {
  await using server = await open()
  const costOf = async (id: string) => (await server.ask(id, 'x')).json.cost
  expect(await costOf('mini')).toEqual({ usd: 0.15, as_of: expect.any(String) })
  expect(await costOf('local')).toEqual({ usd: 0, as_of: null, local: true })
  expect(await costOf('both')).toEqual({ usd: 0.15, as_of: expect.any(String) })
  expect(await costOf('unknown')).toBeNull()
  expect(await costOf('mixed')).toBeNull()
  expect(await costOf('echo')).toBeNull()
  const { sessions } = (await server.call('GET', '/api/v1/sessions?view=head')).json
  const heads = Object.fromEntries(
    sessions.map((head: { entity_id: string; cost: unknown }) => [head.entity_id, head.cost]),
  )
  expect(heads).toMatchObject({ both: { usd: 0.15 }, mixed: null, local: { local: true } })
})

test('a stream that begins in the middle of a call tells its cost, and no copy of the record has it', async () => {
  await using server = await open()
  const { json } = await server.ask('mini', 'x')
  const later = (await server.call('GET', `/api/v1/runs/${json.run_id}/events?after=2`)).text
  expect(later).not.toContain('model_call_start')
  expect(later).toContain('"cost":{"usd":0.15')
  expect(eventsOf(await server.events(json.run_id), 'model_call_end')[0]?.cost).toMatchObject({ usd: 0.15 })
  const copy = (await server.call('GET', `/api/v1/sessions/${json.session_id}/export`)).text
  expect(copy).toContain('model_call_end')
  expect(copy).not.toContain('cost')
})

test('live readers are told the same cost as the lists, of runs, sessions and calls', async () => {
  await using server = await open()
  const first = (await server.ask('mini', 'x')).json
  const client = createClient({ url: server.url })
  const told = new Map<string, LiveEvent>()
  let next: Promise<unknown> | undefined
  for await (const event of client.live({ follow: [first.run_id] })) {
    if (event.type === 'hello') next = server.ask('mini', 'y', { session_id: first.session_id })
    if (event.type === 'run_event' && event.event.type === 'model_call_end') told.set('call', event)
    if (event.type === 'run' && event.run.status === 'completed') told.set('run', event)
    if (event.type === 'session' && event.head.run_count === 2 && event.head.status === 'completed')
      told.set('session', event)
    if (told.size === 3) break
  }
  await next
  const cost = { usd: 0.15, as_of: expect.any(String) }
  const [head] = (await server.call('GET', '/api/v1/sessions?view=head')).json.sessions
  expect(told.get('session')).toEqual({ type: 'session', head })
  expect(head.cost).toMatchObject({ usd: 0.3 })
  expect(told.get('run')).toMatchObject({ run: { cost } })
  expect(told.get('call')).toMatchObject({ event: { cost } })
  await client.close()
})
