import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Client } from '../../../src/client/client.ts'
import { createClient } from '../../../src/client/create.ts'
import { ServerError } from '../../../src/client/transport/error.ts'
import { type CuttingProxy, openCuttingProxy } from '../../support/client/cutting-proxy.ts'
import { owned } from '../../support/owned.ts'
import { createProject, type Project, type RunningServer, serve } from '../../support/program.ts'

/* The real program, killed while the client waits for it, and started again at the same address. */

const config = `
import { agent, defineConfig } from 'agentserve'
export default defineConfig({
  agents: {
    endless: agent({ async *run({ signal, text }) {
      yield 'I have heard: ' + text
      await new Promise((done) => signal.addEventListener('abort', done))
    } }),
    echo: agent({ async *run({ text }) { yield text } }),
  },
})
`

let project: Project
let server: RunningServer
let proxy: CuttingProxy

beforeAll(async () => {
  project = await createProject({ 'agent.config.ts': config })
  server = await serve(project, 'start')
  proxy = await openCuttingProxy(server.url)
})
afterAll(async () => {
  await proxy.close()
  await server.stop()
  await project.remove()
})

async function restart(): Promise<void> {
  await server.kill()
  server = await serve(project, 'start')
  proxy.leadTo(server.url)
}

const ways = { undici: undefined, fetch: globalThis.fetch }

describe.each(['undici', 'fetch'] as const)('by %s', (way) => {
  let client: Client
  beforeAll(() => {
    // A program takes a while to start, on a machine at work the longer.
    client = createClient({ url: proxy.url, fetch: ways[way], retries: 12 })
  })
  afterAll(() => client.close())

  test('a stream goes on over the restart, to the end of the interrupted run', { timeout: 120_000 }, async () => {
    const stream = await client.agents.stream('endless', { input: 'hello' }, { reconnects: 12 })
    const events: unknown[] = []
    for await (const { type, seq } of stream) {
      events.push(type)
      if (type === 'text_delta') await restart()
      expect(seq).toBeGreaterThan(0)
    }
    expect(events).toEqual(['run_start', 'text_delta', 'run_end'])
    expect(await client.runs.get(stream.runId)).toMatchObject({ status: 'interrupted' })
  })

  test('a stream of A2A goes on over the restart, and says that the run was interrupted', {
    timeout: 120_000,
  }, async () => {
    const input = { agentId: 'endless', content: 'hello', onDisconnect: 'continue' } as const
    const events: unknown[] = []
    for await (const event of await client.a2a.stream(input, { reconnects: 12 })) {
      events.push(event)
      if (event.type === 'content') await restart()
    }
    const message = expect.stringContaining('interrupted')
    expect(events).toEqual([
      { type: 'content', content: 'I have heard: hello' },
      { type: 'error', code: -32603, message },
      { type: 'done' },
    ])
  })

  test('a run that was begun is not begun again, and the error names it', { timeout: 120_000 }, async () => {
    const { session_id } = await client.sessions.create()
    const pending = client.agents
      .run('endless', { input: 'hello', session_id, on_disconnect: 'continue' })
      .catch((error: unknown) => error)
    await expect.poll(async () => (await client.runs.list({ session_id, status: 'running' })).count).toBe(1)
    await restart()
    const error = await pending
    const { runs } = await client.runs.list({ session_id })
    expect(runs).toMatchObject([{ status: 'interrupted' }])
    expect(error).toBeInstanceOf(ServerError)
    expect(error).toMatchObject({ code: 'run_interrupted', status: 500, runId: runs[0]?.run_id, sessionId: session_id })
    // The same call later, from anywhere, with the key of the first.
    const options = { idempotencyKey: `again-${way}` }
    const first = await client.agents.run('echo', { input: 'one', session_id }, options)
    await restart()
    expect(await client.agents.run('echo', { input: 'one', session_id }, options)).toEqual(first)
    expect((await client.runs.list({ session_id })).count).toBe(2)
  })

  test('an answer that was lost on the way is given by the restarted server', { timeout: 120_000 }, async () => {
    const { session_id } = await client.sessions.create()
    // On the connection that is open, so that the run is made; no other gets through until the restart.
    proxy.leadTo('http://127.0.0.1:1')
    proxy.cutAfter(0)
    const pending = owned(client.agents.run('echo', { input: 'once', session_id }))
    await expect.poll(() => proxy.hasCut).toBe(true)
    await restart()
    expect(await pending).toMatchObject({ status: 'completed', content: 'once' })
    expect((await client.runs.list({ session_id })).count).toBe(1)
  })
})
