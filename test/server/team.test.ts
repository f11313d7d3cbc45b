import { afterEach, expect, it } from 'vitest'
import { z } from 'zod'
import { agent } from '../../src/runnables/agent/agent.ts'
import { runContext } from '../../src/runnables/base/run-context.ts'
import { team } from '../../src/runnables/team/team.ts'
import { tool } from '../../src/runnables/tools/tool.ts'
import { workflow } from '../../src/runnables/workflow/workflow.ts'
import { answer, callTool, scripted } from '../runnables/fixture.ts'
import { type RunningTestServer, startServer } from '../support/server.ts'

let server: RunningTestServer | undefined
afterEach(async () => {
  await server?.close()
  server = undefined
})

async function serve(entities: Record<string, object>) {
  server = await startServer({}, entities)
  const { call } = server
  const run = async (id: string, input: unknown, more = {}) =>
    (await call('POST', `/api/v1/agents/${id}/run`, { input, ...more })).json
  const runs = async (query: string) => (await call('GET', `/api/v1/runs?${query}`)).json.runs
  return { call, run, runs }
}

it('a lead delegates to an agent, a workflow and a team, and each has a run of its own', async () => {
  const count = workflow({
    description: 'Counts words.',
    run: ({ text, step }) => step('count', () => text.split(' ').length),
  })
  const shout = agent({ run: ({ text }) => text.toUpperCase() })
  const pair = team({ members: ['shout', 'count'], mode: 'parallel' })
  const model = scripted(
    callTool('ask_count', { task: 'a b c' }),
    callTool('ask_pair', { task: 'x y' }),
    answer('Three, and both.'),
  )
  const lead = team({ mode: 'lead', members: ['shout', 'count', 'pair'], model })
  const { run, runs, call } = await serve({ shout, count, pair, lead })
  const ended = await run('lead', 'Go')
  expect(ended).toMatchObject({ status: 'completed', content: 'Three, and both.' })
  const children = await runs(`parent_run_id=${ended.run_id}`)
  expect(children.map((child: { entity_id: string }) => child.entity_id)).toEqual(['pair', 'count'])
  const inner = await runs(`parent_run_id=${children[0].run_id}`)
  expect(inner).toHaveLength(2)
  expect(JSON.stringify(model.doStreamCalls[2]?.prompt)).toContain('shout:\\nX Y\\n\\ncount:\\n2')
  const session = (await call('GET', `/api/v1/sessions/${ended.session_id}`)).json
  expect(session).toMatchObject({ run_count: 1, runs: [{ run_id: ended.run_id, parent_run_id: null }] })
  const all = (await call('GET', `/api/v1/sessions/${ended.session_id}/runs`)).json.runs
  expect(all).toHaveLength(5)
  await call('DELETE', `/api/v1/sessions/${ended.session_id}`)
  expect((await call('GET', `/api/v1/runs/${inner[0].run_id}`)).status).toBe(404)
})

it('shares a state that tools, steps and members write, and that the session shows', async () => {
  const add = tool({
    inputSchema: z.object({ item: z.string() }),
    execute({ item }) {
      const { state } = runContext<{ cart?: string[] }>()
      state.cart = [...(state.cart ?? []), item]
      return `${state.cart.length} in the cart`
    },
  })
  const shop = agent({
    name: 'shop',
    model: scripted(callTool('add', { item: 'tea' }), answer('Added.')),
    tools: { add },
  })
  const bill = workflow({
    name: 'bill',
    state: z.object({ cart: z.array(z.string()).default([]), total: z.number().default(0) }),
    run: ({ state, step }) =>
      step('sum', () => {
        state.total = state.cart.length * 2
        return `${state.total} euros`
      }),
  })
  const { run, call } = await serve({ store: team({ members: [shop, bill] }) })
  const ended = await run('store', 'tea please', { state: { cart: ['cup'] } })
  expect(ended.content).toBe('4 euros')
  const session = (await call('GET', `/api/v1/sessions/${ended.session_id}`)).json
  expect(session.state).toEqual({ cart: ['cup', 'tea'], total: 4 })
})

it('streams its members as steps, which anybody can follow by themselves', async () => {
  const gate = Promise.withResolvers<void>()
  const slow = agent({
    name: 'slow',
    async *run() {
      yield 'wait '
      await gate.promise
      yield 'for it'
    },
  })
  const { call, runs } = await serve({ pair: team({ members: [slow, slow] }) })
  const { json } = await call('POST', '/api/v1/agents/pair/run', { input: 'x', background: true })
  const reading = call('GET', `/api/v1/runs/${json.run_id}/events`)
  let child: { run_id: string; status: string } | undefined
  while (child === undefined) [child] = await runs(`parent_run_id=${json.run_id}`)
  const following = call('GET', `/api/v1/runs/${child.run_id}/events`)
  gate.resolve()
  const inner = (await following).text
  expect(inner).toContain('"text":"for it"')
  const outer = (await reading).text
  expect(outer.match(/event: step_start/g)).toHaveLength(2)
  expect(outer).toContain(`"child_run_id":"${child.run_id}"`)
  expect(outer.match(/"text":"wait "/g)).toHaveLength(1)
})
