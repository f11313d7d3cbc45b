import { existsSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { createServer as createNetServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { resolveConfig } from '../../src/config/resolve.ts'
import type { ServerConfig, UserConfig } from '../../src/config/types.ts'
import { AppError } from '../../src/core/error.ts'
import { silentLogger } from '../../src/core/logger.ts'
import type { SessionStore } from '../../src/core/store.ts'
import { agent } from '../../src/runnables/agent/agent.ts'
import { configParts, createServer, openServer } from '../../src/server.ts'
import { lockDataFolder } from '../../src/store/data-folder.ts'
import { memoryStore } from '../../src/store/sessions/memory/store.ts'

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'agentserve-lifecycle-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** The server of the command line, in a folder of its own. */
function programServer(folder: string, server: ServerConfig = {}, more: Partial<UserConfig> = {}) {
  const user: UserConfig = {
    server: { address: '127.0.0.1:0', logger: silentLogger, vectorDb: { type: 'memory' }, ...server },
    agents: {},
    ...more,
  }
  return openServer(resolveConfig({ user, root: folder, purpose: 'program', parts: configParts }))
}

/** A memory store whose `open` waits for `pass`. */
function slowStore() {
  const inner = memoryStore()
  const gate = Promise.withResolvers<void>()
  const reached = Promise.withResolvers<void>()
  const store: SessionStore = {
    ...inner,
    async open() {
      reached.resolve()
      await gate.promise
      await inner.open()
    },
  }
  return { store, reached: reached.promise, pass: gate.resolve }
}

const patient = () =>
  agent({
    async *run({ signal }) {
      yield 'a'
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    },
  })

test('does not listen any more when it is shut down while it opens', async () => {
  const { store, reached, pass } = slowStore()
  const server = createServer({ address: '127.0.0.1:0', logger: silentLogger, sessionStorage: store })
  const ended = server.start()
  const failed = expect(server.ready).rejects.toMatchObject({ code: 'unavailable' })
  await reached
  const stopped = server.shutdown({ deadline: 0 })
  pass()
  await stopped
  await ended
  await failed
  const listening = process
    .getActiveResourcesInfo()
    .filter((name) => name === 'TCPServerWrap' || name === 'TCPSERVERWRAP')
  expect(listening).toEqual([])
})

test('leaves neither hint nor lock behind when it is shut down while it starts', async () => {
  const folder = await temporaryFolder()
  for (const turns of [0, 1, 5, 20, 100]) {
    const server = programServer(folder)
    const ended = server.start()
    server.ready.catch(() => {})
    for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve))
    await server.shutdown({ deadline: 0 })
    await ended
    const data = join(folder, '.agentserve')
    expect(existsSync(join(data, 'server.json'))).toBe(false)
    await (await lockDataFolder(data)).release()
  }
})

test('frees lock and hint after a start that failed, and leaves waiting background runs in the queue', async () => {
  const folder = await temporaryFolder()
  const taken = createNetServer().listen(0, '127.0.0.1')
  onTestFinished(() => void taken.close())
  await new Promise((resolve) => taken.once('listening', resolve))
  const { port } = taken.address() as { port: number }
  const entities = { agents: { patient: patient() } }
  const first = programServer(folder, {}, entities)
  const ended = first.start()
  await first.ready
  const run = (body: object) =>
    first.inject({
      method: 'POST',
      url: '/api/v1/agents/patient/run',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  const { session_id } = (await (await first.inject({ method: 'POST', url: '/api/v1/sessions' })).json()) as {
    session_id: string
  }
  await run({ input: '1', session_id, background: true })
  const waiting = (await (await run({ input: '2', session_id, background: true })).json()) as { run_id: string }
  await first.shutdown({ deadline: 0 })
  await ended
  const second = programServer(folder, { address: `127.0.0.1:${port}` }, entities)
  second.ready.catch(() => {})
  await expect(second.start()).rejects.toMatchObject({ code: 'conflict' })
  const data = join(folder, '.agentserve')
  expect(existsSync(join(data, 'server.json'))).toBe(false)
  await (await lockDataFolder(data)).release()
  const third = programServer(folder)
  const found = (await (await third.inject({ url: `/api/v1/runs/${waiting.run_id}` })).json()) as { status: string }
  expect(found.status).toBe('queued')
  await third.shutdown()
})

test('a second shutdown with a shorter deadline hurries the first', async () => {
  const server = createServer({ address: '127.0.0.1:0', logger: silentLogger })
  server.registerAgent('patient', patient())
  const ended = server.start()
  await server.ready
  const answer = server.inject({
    method: 'POST',
    url: '/api/v1/agents/patient/run',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ input: 'x' }),
  })
  await new Promise((resolve) => setImmediate(resolve))
  const first = server.shutdown({ deadline: '10m' })
  const second = server.shutdown({ deadline: 0 })
  await Promise.all([first, second, ended])
  expect((await answer).status).toBe(409)
})

test('ends although the dispose of its config throws', async () => {
  const folder = await temporaryFolder()
  const server = programServer(folder, {}, {
    dispose() {
      throw new Error('not me')
    },
  } as Partial<UserConfig>)
  const ended = server.start()
  await server.ready
  await server.shutdown({ deadline: 0 })
  await ended
})

test('rejects start and every request with the failure of the storage', async () => {
  const failure = new AppError('unavailable', 'broken')
  const inner = memoryStore()
  const server = createServer({
    address: '127.0.0.1:0',
    logger: silentLogger,
    sessionStorage: { ...inner, recover: () => Promise.reject(failure) },
  })
  server.ready.catch(() => {})
  await expect(server.start()).rejects.toBe(failure)
  await expect(server.inject({ url: '/health' })).rejects.toBe(failure)
})

test('touches no file with sessions in memory and no vector database', async () => {
  const folder = await temporaryFolder()
  const before = process.cwd()
  process.chdir(folder)
  onTestFinished(() => process.chdir(before))
  const server = createServer({ address: '127.0.0.1:0', logger: silentLogger, sessionStorage: 'memory' })
  server.registerAgent('patient', patient())
  const ended = server.start()
  await server.ready
  expect((await server.inject({ method: 'POST', url: '/api/v1/sessions' })).status).toBe(201)
  await server.shutdown()
  await ended
  expect(await readdir(folder)).toEqual([])
})

test('an injected request that is given up is cancelled and says so', async () => {
  const server = createServer({ logger: silentLogger })
  server.registerAgent('patient', patient())
  const giveUp = new AbortController()
  const answer = server.inject({
    method: 'POST',
    url: '/api/v1/agents/patient/run',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ input: 'x' }),
    signal: giveUp.signal,
  })
  while (true) {
    const { runs } = (await (await server.inject({ url: '/api/v1/runs' })).json()) as { runs: { status: string }[] }
    if (runs[0]?.status === 'running') break
    await new Promise((resolve) => setImmediate(resolve))
  }
  const reason = new Error('given up')
  giveUp.abort(reason)
  await expect(answer).rejects.toBe(reason)
  while (true) {
    const { runs } = (await (await server.inject({ url: '/api/v1/runs' })).json()) as {
      runs: { status: string; cancellation_reason: string }[]
    }
    await new Promise((resolve) => setImmediate(resolve))
    if (runs[0]?.status === 'running') continue
    expect(runs[0]).toMatchObject({ status: 'cancelled', cancellation_reason: 'client_disconnected' })
    break
  }
  await server.shutdown({ deadline: 0 })
})

test('disposes of a replaced config once its last run has ended, and closes no sooner', async () => {
  const folder = await temporaryFolder()
  const log: string[] = []
  const config = (name: string) => ({
    agents: { patient: patient() },
    async dispose() {
      await new Promise((resolve) => setImmediate(resolve))
      log.push(name)
    },
  })
  const server = programServer(folder, {}, config('first'))
  const ended = server.start()
  await server.ready
  const { events } = await server.services.runs.start({
    entityId: 'patient',
    parts: [{ type: 'text', text: 'x' }],
    unknownSession: 'refuse',
    mode: 'background',
  })
  await events()[Symbol.asyncIterator]().next()
  for (const name of ['second', 'third']) {
    const user: UserConfig = { server: { vectorDb: { type: 'memory' } }, ...config(name) }
    await server.reload(resolveConfig({ user, root: folder, purpose: 'program', parts: configParts }))
  }
  expect(log).toEqual([])
  await server.shutdown({ deadline: 0 })
  await ended
  expect(log.sort()).toEqual(['first', 'second', 'third'])
})

test('listen gives the address, and close ends what listens', async () => {
  const server = createServer({ address: '127.0.0.1:0', logger: silentLogger })
  const { url, port } = await server.listen()
  expect(url).toBe(`http://127.0.0.1:${port}`)
  expect((await fetch(`${url}/health`)).status).toBe(200)
  expect(await server.listen()).toBe(await server.ready)
  await server.close()
  await expect(fetch(`${url}/health`)).rejects.toThrow()
  await server.start()
})

test('listen says why the server can not listen', async () => {
  const first = createServer({ address: '127.0.0.1:0', logger: silentLogger })
  const { port } = await first.listen()
  const second = createServer({ address: `127.0.0.1:${port}`, logger: silentLogger })
  await expect(second.listen()).rejects.toMatchObject({ code: 'conflict' })
  await first.close()
})
