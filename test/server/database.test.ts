import { expect, onTestFinished, test } from 'vitest'
import { AppError } from '../../src/core/error.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { openDatabase } from '../../src/server/database/database.ts'
import { createServer } from '../../src/server.ts'
import { manualTimers } from '../support/manual-timers.ts'
import { describePostgres } from '../support/postgres/describe-postgres.ts'
import { startProxy } from '../support/postgres/proxy.ts'
import { testPostgres } from '../support/postgres/test-postgres.ts'
import { openDoor } from '../support/postgres/tls-proxy.ts'
import { startServer } from '../support/server.ts'

const place = 'db:5432/agents, schema s'
const away = () =>
  new AppError('unavailable', 'away', { cause: Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }) })

/** A database that is away for so many attempts, and a clock that passes as fast as it is asked to wait. */
function waiting(attempts: number, failure = away) {
  const timers = manualTimers()
  const lines: string[] = []
  const controller = new AbortController()
  let tried = 0
  const opened = openDatabase(
    async () => {
      tried++
      if (tried <= attempts) throw failure()
    },
    { place, isExposed: false },
    {
      patienceMs: 60_000,
      signal: controller.signal,
      timers,
      logger: {
        ...silentLogger,
        warn: (_fields: object, message?: string) => void lines.push(`${message}`),
        info: (_fields: object, message?: string) => void lines.push(`${message}`),
      },
    },
  )
  opened.catch(() => {})
  return {
    opened,
    lines,
    timers,
    stop: () => controller.abort(),
    tried: () => tried,
    async passSeconds(seconds: number) {
      for (let second = 0; second < seconds; second++) {
        await new Promise((resolve) => setImmediate(resolve))
        timers.advance(1_000)
      }
      await new Promise((resolve) => setImmediate(resolve))
    },
  }
}

test('a server waits for its database, and says so every five seconds', async () => {
  const { opened, lines, passSeconds, tried, timers } = waiting(12)
  await passSeconds(12)
  await opened
  expect(tried()).toBe(13)
  const line = expect.stringMatching(
    /^The database at db:5432\/agents, schema s can't be reached: nothing listens there\./,
  )
  expect(lines).toEqual([line, line, line, `the database at ${place} is there`])
  expect(timers.size).toBe(0)
})

test('it waits for room in a full database too', async () => {
  const full = () =>
    new AppError('storage_full', 'full', { cause: Object.assign(new Error('No space left'), { code: '53100' }) })
  const { opened, lines, passSeconds } = waiting(2, full)
  await passSeconds(2)
  await opened
  expect(lines).toEqual([
    `The database at ${place} has no space left: free some there. Trying again for up to 60 seconds after the start.`,
    `the database at ${place} is there`,
  ])
})

test('it gives up after a minute, with what to do', async () => {
  const { opened, passSeconds, lines, timers } = waiting(Number.POSITIVE_INFINITY)
  await passSeconds(59)
  expect(timers.size).toBeGreaterThan(0)
  await passSeconds(2)
  await expect(opened).rejects.toMatchObject({ code: 'unavailable', message: expect.stringContaining('Start it, or') })
  expect([lines.length, timers.size]).toEqual([12, 0])
})

test('it does not wait for what only people can change, nor when it is stopped', async () => {
  const refusing = waiting(1, () => new AppError('unavailable', 'Postgres 140000 is too old. Use version 15 or newer.'))
  await expect(refusing.opened).rejects.toThrow('Postgres 140000 is too old')
  expect([refusing.tried(), refusing.lines, refusing.timers.size]).toEqual([1, [], 0])
  const stopped = waiting(Number.POSITIVE_INFINITY)
  await stopped.passSeconds(3)
  stopped.stop()
  await expect(stopped.opened).rejects.toThrow('The server has been shut down.')
  expect(stopped.timers.size).toBe(0)
})

test('a server that waits for its database can be shut down', async () => {
  const door = await openDoor((socket) => socket.end())
  onTestFinished(() => door.close())
  const said = Promise.withResolvers<string>()
  const logger = { ...silentLogger, warn: (_fields: object, message?: string) => said.resolve(`${message}`) }
  const url = `postgres://127.0.0.1:${door.port}/a`
  const server = createServer({ address: '127.0.0.1:0', storage: { type: 'postgres', url }, logger })
  const ended = server.start()
  const refused = expect(server.ready).rejects.toMatchObject({ code: 'unavailable' })
  expect(await said.promise).toContain('Trying again for up to 60 seconds')
  await server.shutdown({ deadline: 0 })
  await ended
  await refused
})

describePostgres('a server', () => {
  test('starts although its database goes away again before it has joined the others', {
    timeout: 60_000,
  }, async () => {
    const { url, newSchema } = await testPostgres()
    await using place = newSchema()
    await using proxy = await startProxy(url)
    const losses = 7
    const lose = async () => {
      for (let lost = 0; lost < losses; lost++) await proxy.lose('request', /INTO instance/)
    }
    const lost = lose()
    const server = await startServer({
      sessionStorage: { type: 'postgres', url: proxy.url, schema: place.name },
    })
    await lost
    expect((await server.call('POST', '/api/v1/agents/echo/run', { input: 'hello' })).status).toBe(200)
    await server.close()
  })
})
