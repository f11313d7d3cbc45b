import { expect, it, onTestFinished } from 'vitest'
import { agent } from '../../src/runnables/agent/agent.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { describePostgres } from '../support/postgres/describe-postgres.ts'
import { testPostgres } from '../support/postgres/test-postgres.ts'
import { startServer } from '../support/server.ts'

/** A model that remembers what begins with `remember:`, and forgets likewise. */
function obedient() {
  return scriptedModel(({ prompt, text: input }) => {
    const [, name, text = ''] = /^(remember|forget):(.*)$/s.exec(input) ?? []
    if (prompt.at(-1)?.role === 'tool' || name === undefined) return 'Fine.'
    return { tool_calls: [{ name, input: { [name === 'forget' ? 'fact_id' : 'fact']: text }, call_id: 'c1' }] }
  })
}

describePostgres('servers on one Postgres', () => {
  it('tell each other’s agents what they remember of a user, and forget it together', async () => {
    const { url, newSchema } = await testPostgres()
    const schema = newSchema()
    onTestFinished(async () => void (await schema[Symbol.asyncDispose]()))
    const servers = await Promise.all(
      [obedient(), obedient(), obedient()].map(async (model) => {
        const helper = agent({ model, memory: { user: true }, instructions: 'Help.' })
        const server = await startServer({ sessionStorage: { type: 'postgres', url, schema: schema.name } }, { helper })
        onTestFinished(() => server.close())
        const say = (input: string) => server.call('POST', '/api/v1/agents/helper/run', { input, user_id: 'ann' })
        const facts = async (): Promise<{ fact_id: string; content: string }[]> =>
          (await server.call('GET', '/api/v1/users/ann/facts')).json.facts
        return { say, facts, told: () => JSON.stringify(model.calls.at(-1)?.prompt) }
      }),
    )
    await Promise.all(servers.map(({ say }, place) => say(`remember:Ann has a dog called Rex ${place}.`)))
    const seen = await Promise.all(servers.map(({ facts }) => facts()))
    expect(seen[0]?.map(({ content }) => content).sort()).toEqual(
      [0, 1, 2].map((place) => `Ann has a dog called Rex ${place}.`),
    )
    expect(seen).toEqual([seen[0], seen[0], seen[0]])
    const [a, b, c] = servers
    expect(
      (await a?.say(`forget:${seen[0]?.find(({ content }) => content.endsWith('Rex 1.'))?.fact_id}`))?.status,
    ).toBe(200)
    await b?.say('What do I have?')
    expect(b?.told()).toContain('Rex 2')
    expect(b?.told()).not.toContain('Rex 1')
    expect(await c?.facts()).toEqual(await a?.facts())
  })
})
