import { expect, test } from 'vitest'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { team } from '../../../src/runnables/team/team.ts'
import { scriptedModel } from '../../../src/testing/scripted-model.ts'
import { serveAgain } from './fixture.ts'

/** Remembers what the user says, then forgets the oldest fact that it was told. */
const model = scriptedModel(({ prompt, text }) => {
  const done = prompt.filter(({ role }) => role === 'tool').length
  const [, oldest] = /<fact id=\\"(\w+)\\"/.exec(JSON.stringify(prompt)) ?? []
  if (done === 0) return { tool_calls: [{ name: 'remember', input: { fact: text }, call_id: 'c1' }] }
  if (done === 1 && oldest !== undefined)
    return { tool_calls: [{ name: 'forget', input: { fact_id: oldest }, call_id: 'c2' }] }
  return 'Fine.'
})

async function opened() {
  const memory = { user: true }
  const helper = agent({ model, memory })
  const own = agent({
    memory,
    async run({ user, text }) {
      await user.remember(text)
      return user.facts.map(({ content }) => content).join(' ')
    },
  })
  const around = team({ mode: 'sequence', members: ['helper'] })
  const server = await serveAgain({ helper, own, around })
  const facts = async () =>
    (await server.call('GET', '/api/v1/users/ann/facts')).json.facts.map(({ content }: { content: string }) => content)
  const ask = async (entity: string, input: string) => (await server.ask(entity, input, { user_id: 'ann' })).runId
  const settled = async (id: string) => {
    let { run } = await server.ended(id)
    for (let pauses = 0; run.status === 'input_required' && pauses < 4; pauses++) {
      await server.resume(id, { approved: true })
      run = (await server.ended(id)).run
    }
    return run
  }
  return { server, facts, ask, settled }
}

test('a try writes no facts: neither live, nor when its calls are approved, nor in its members', async () => {
  const { server, facts, ask, settled } = await opened()
  await using _ = server
  const first = await ask('helper', 'Likes tea.')
  expect(await facts()).toEqual(['Likes tea.'])
  const whole = await ask('around', 'Likes cake.')
  expect(await facts()).toEqual(['Likes cake.'])
  const own = await ask('own', 'Likes pie.')
  const before = await facts()
  for (const runId of [first, whole, own]) {
    for (const after of ['live', 'ask'] as const) {
      if (runId === own && after === 'ask') continue
      const { id, status } = await server.again(runId, { after, edit: { input: `Likes ${after} mode.` } })
      expect(status).toBe(202)
      expect((await settled(id)).status).toBe('completed')
      expect(await facts()).toEqual(before)
    }
  }
})

test('a try sees what it has remembered itself', async () => {
  const { server, facts, ask, settled } = await opened()
  await using _ = server
  const own = await ask('own', 'Likes pie.')
  const { id } = await server.again(own, { after: 'live', edit: { input: 'Likes jam.' } })
  expect((await settled(id)).messages.at(-1).content).toBe('Likes pie. Likes jam.')
  expect(await facts()).toEqual(['Likes pie.'])
})

test('what becomes a turn asks before it writes', async () => {
  const { server, facts, ask, settled } = await opened()
  await using _ = server
  const first = await ask('helper', 'Likes tea.')
  const { id } = await server.again(first, { keep: 'fork', edit: { input: 'Likes jam.' } })
  const { run } = await server.ended(id)
  expect(run).toMatchObject({ status: 'input_required', waiting: [{ kind: 'approval', tool: 'remember' }] })
  expect(await facts()).toEqual(['Likes tea.'])
  expect((await settled(id)).status).toBe('completed')
  expect(await facts()).toEqual(['Likes jam.'])
})
