import { afterEach, beforeEach, expect, test } from 'vitest'
import { resolveConfig } from '../../src/config/resolve.ts'
import { silentLogger } from '../../src/core/logger.ts'
import type { SessionStore } from '../../src/core/store.ts'
import { agent } from '../../src/runnables/agent/agent.ts'
import { composeServer } from '../../src/server/server.ts'
import { configParts } from '../../src/server.ts'
import { validatedStore } from '../../src/store/cached/validated-store.ts'
import { memoryCluster } from '../support/memory-cluster.ts'
import { type RunningTestServer, startServer } from '../support/server.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** Speaks, waits until it is told to go on or is stopped, and speaks again. */
function hesitant() {
  const gone = Promise.withResolvers<void>()
  const fences: string[] = []
  const entity = agent({
    async *run({ fence, signal }) {
      fences.push(fence)
      yield 'first '
      const stopped = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
      await Promise.race([gone.promise, stopped])
      yield 'last'
    },
  })
  return { entity, go: () => gone.resolve(), fences }
}

let cluster: ReturnType<typeof memoryCluster>
const servers: RunningTestServer[] = []

async function start(entities: Record<string, object>, sessionStorage = cluster.add().store) {
  const server = await startServer({ sessionStorage }, entities)
  servers.push(server)
  return server
}

beforeEach(() => {
  cluster = memoryCluster()
})
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})

test('a stream that one server began is read on from another, and its run is cancelled there', async () => {
  const { entity: slow, fences } = hesitant()
  const [a, b] = [await start({ slow }), await start({ slow })]
  const own = await fetch(`${a.url}/api/v1/agents/slow/run`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
    body: JSON.stringify({ input: 'hi' }),
  })
  const reader = own.body?.pipeThrough(new TextDecoderStream()).getReader()
  let seen = ''
  while (!seen.includes('first ')) seen += (await reader?.read())?.value ?? ''
  const runId = /run_[0-9][0-9a-z]+/.exec(seen)?.[0] ?? ''
  expect(fences).toEqual([`${runId}:1`])
  const rest = b.call('GET', `/api/v1/runs/${runId}/events`, undefined, { 'last-event-id': '1' })
  expect((await b.call('POST', `/api/v1/runs/${runId}/cancel`)).json).toMatchObject({ status: 'cancelled' })
  for (let done = false; !done; ) {
    const next = await reader?.read()
    seen += next?.value ?? ''
    done = next?.done ?? true
  }
  const fromFirst = seen.slice(seen.indexOf('id: 2'))
  expect((await rest).text).toBe(fromFirst)
  expect(fromFirst).toContain('cancelled')
})

test('what waits on a server that stops is done by another at once', async () => {
  const { entity: slow, go } = hesitant()
  const [a, b] = [await start({ slow }), await start({ slow })]
  const first = await a.call('POST', '/api/v1/agents/slow/run', { input: 'x', background: true })
  const sessionId = first.json.session_id
  const waiting = await a.call('POST', '/api/v1/agents/slow/run', {
    input: 'y',
    background: true,
    session_id: sessionId,
  })
  expect(waiting.json.status).toBe('queued')
  go()
  await a.close()
  const events = await b.call('GET', `/api/v1/runs/${waiting.json.run_id}/events`)
  expect(events.text).toContain('"completed"')
})

test('a command is a guest: it takes over nothing that servers have left', async () => {
  await using folder = await temporaryFolder()
  const { entity: slow, go } = hesitant()
  const a = await start({ slow })
  const body = { input: 'x', background: true }
  const first = await a.call('POST', '/api/v1/agents/slow/run', body)
  const waiting = await a.call('POST', '/api/v1/agents/slow/run', { ...body, session_id: first.json.session_id })
  const path = `/api/v1/runs/${waiting.json.run_id}`
  await a.close()
  go()

  const settings = { sessionStorage: cluster.add().store, logger: silentLogger, vectorDb: { type: 'memory' as const } }
  const user = { server: settings, agents: { slow } }
  const config = resolveConfig({ user, root: folder.path, purpose: 'library', parts: configParts })
  const command = composeServer(config, { mode: 'command' })
  for (let times = 0; times < 5; times++) {
    const shown = await command.inject({ url: path })
    expect(await shown.json()).toMatchObject({ status: 'queued' })
  }
  await command.close()

  const b = await start({ slow })
  expect((await b.call('GET', `${path}/events`)).text).toContain('"completed"')
})

/** Every call of the store that is no sign of life. */
function noting(store: SessionStore, calls: string[]): SessionStore {
  const methods = Object.entries(store).filter(([, method]) => typeof method === 'function')
  const noted = methods.map(([name, method]) => [
    name,
    (...given: unknown[]) => {
      calls.push(name)
      return method(...given)
    },
  ])
  return { ...store, ...Object.fromEntries(noted) }
}

test('a run reads nothing from the store while no other server changes its session', async () => {
  const recall = agent({
    async *run({ history, state }) {
      state.count = Number(state.count ?? 0) + 1
      yield `${state.count} runs, ${(await history(10)).length} messages`
    },
  })
  const calls: string[] = []
  const a = await start({ recall }, validatedStore(noting(cluster.add().store, calls)))
  const b = await start({ recall }, validatedStore(cluster.add().store))
  await a.call('POST', '/api/v1/sessions', { session_id: 's' })
  const say = async (server: RunningTestServer) => {
    calls.length = 0
    return (await server.call('POST', '/api/v1/agents/recall/run', { input: 'hi', session_id: 's' })).json.content
  }
  expect(await say(a)).toBe('1 runs, 0 messages')
  expect(await say(a)).toBe('2 runs, 2 messages')
  expect(calls).toEqual(['startRun', 'finishRun'])
  expect(await say(b)).toBe('3 runs, 4 messages')
  expect(await say(a)).toBe('4 runs, 6 messages')
  expect(calls).toEqual(expect.arrayContaining(['findSession', 'readHistory']))
  expect(await say(a)).toBe('5 runs, 8 messages')
  expect(calls).toEqual(['startRun', 'finishRun'])
})

test('several servers write to one audit log, and each shows all of it', async () => {
  const [a, b] = [await start({}), await start({})]
  const ids: string[] = []
  for (const server of [a, b, a]) {
    const { session_id } = (await server.call('POST', '/api/v1/agents/echo/run', { input: 'x' })).json
    expect((await server.call('DELETE', `/api/v1/sessions/${session_id}`)).status).toBe(200)
    ids.unshift(session_id)
  }
  for (const server of [a, b]) {
    const { entries } = (await server.call('GET', '/api/v1/audit')).json
    expect(entries.map(({ object_id }: { object_id: string }) => object_id)).toEqual(ids)
    expect(new Set(entries.map(({ server_id }: { server_id: string }) => server_id)).size).toBe(2)
  }
})
