import { expect, it, vi } from 'vitest'
import { silentLogger } from '../../src/core/logger.ts'
import { agent } from '../../src/runnables/agent/agent.ts'
import { createServer } from '../../src/server.ts'
import { type Receiver, startReceiver } from '../support/push-receiver.ts'

const echo = () =>
  agent({
    async *run({ text }) {
      yield text
    },
  })
const ticks = { cron: '* * * * * *', agent: 'echo', input: 'tick' }
const secret = `whsec_${Buffer.alloc(32, 3).toString('base64')}`

async function told(receiver: Receiver, embed: (hook: string) => ReturnType<typeof createServer>): Promise<string[]> {
  const server = embed(receiver.url)
  await server.inject({ method: 'GET', url: '/health' })
  await vi.waitFor(() => expect(receiver.received.length).toBeGreaterThan(1), 10_000)
  await server.close({ deadline: 0 })
  return receiver.received.splice(0).map(({ json }) => json.type)
}

it('runs schedules and tells webhooks in an embedded server, made of settings or of a whole config', async () => {
  const receiver = await startReceiver()
  const parts = (url: string) => ({
    schedules: { ticks },
    webhooks: { ops: { url, secret, allowHttp: true, allowPrivate: true } },
  })
  const bySettings = await told(receiver, (url) => {
    const server = createServer({ logger: silentLogger, ...parts(url) })
    server.registerAgent('echo', echo())
    return server
  })
  const byConfig = await told(receiver, (url) =>
    createServer({ agents: { echo: echo() }, server: { logger: silentLogger }, ...parts(url) }),
  )
  expect(new Set([...bySettings, ...byConfig])).toEqual(new Set(['run.completed']))
  await receiver.close()
})

it('refuses a schedule of an agent that a whole config does not have', () => {
  expect(() => createServer({ agents: { echo: echo() }, schedules: { ticks: { ...ticks, agent: 'ecko' } } })).toThrow(
    "schedules.ticks.agent names 'ecko', which is not an agent, team or workflow of this config; did you mean 'echo'.",
  )
})
