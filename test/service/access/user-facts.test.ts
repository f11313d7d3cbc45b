import { expect, test } from 'vitest'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { startServer } from '../../support/server.ts'

test.each(['memory', undefined] as const)(
  'a run that goes on while its user is erased leaves no fact (%s)',
  async (kind) => {
    const entered = Promise.withResolvers<void>()
    const go = Promise.withResolvers<void>()
    const outcome = Promise.withResolvers<unknown>()
    const late = agent({
      memory: { user: true },
      async run({ user, text }) {
        await user.remember(text)
        entered.resolve()
        await go.promise
        outcome.resolve(await user.remember('Likes cake.').catch((error: unknown) => error))
        return ''
      },
    })
    const server = await startServer(kind === undefined ? {} : { sessionStorage: kind }, { late })
    try {
      const facts = async () => (await server.call('GET', '/api/v1/users/ann/facts')).json.count
      const body = { input: 'Likes tea.', user_id: 'ann', background: true }
      expect((await server.call('POST', '/api/v1/agents/late/run', body)).status).toBe(202)
      await entered.promise
      expect(await facts()).toBe(1)
      expect((await server.call('DELETE', '/api/v1/users/ann')).status).toBe(204)
      go.resolve()
      expect(await outcome.promise).toMatchObject({ code: 'conflict' })
      expect(await facts()).toBe(0)
    } finally {
      await server.close()
    }
  },
)
