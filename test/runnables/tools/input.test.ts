import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { team } from '../../../src/runnables/team/team.ts'
import { remoteAgent } from '../../../src/runnables/tools/remote-agent.ts'
import { scriptedModel } from '../../../src/testing/scripted-model.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { eventsOf, serveAgents } from '../agent-server.ts'

/** Another name than the tool's own, and none of these is a text. */
const wrongInputs = [
  { question: 'q' },
  { task: 5, query: 5, message: 5 },
  { task: null, query: null, message: null },
  {},
  'text',
  [],
  null,
]

const ok = agent({ name: 'ok', run: ({ text }) => `ok: ${text}` })
const calling = (name: string) => () =>
  scriptedModel(({ number }) =>
    number <= wrongInputs.length ? { tool_calls: [{ name, input: wrongInputs[number - 1] as never }] } : 'enough',
  )

const entities: Record<string, () => object> = {
  'a lead team': () => team({ mode: 'lead', members: [ok], model: calling('ask_ok')() }),
  'an agent that searches': () => agent({ model: calling('search_knowledge')(), knowledge: { mode: 'tool' } }),
  'an agent that asks a remote agent': () =>
    agent({ model: calling('there')(), tools: { there: remoteAgent({ url: 'http://127.0.0.1:1', agentId: 'none' }) } }),
}

describe.each(['sqlite', 'memory'] as const)('tools of ours, on the %s store', (store) => {
  it.each(Object.entries(entities))(
    'answer %s what is wrong with its input, and everybody else is served',
    async (_, make) => {
      await using folder = await temporaryFolder()
      const sessionStorage = store === 'memory' ? store : { type: store, path: join(folder.path, 'sessions.db') }
      await using server = await serveAgents({ main: make(), other: ok }, { sessionStorage })
      const { json, runId, status } = await server.ask('main', 'go')
      expect([status, json]).toEqual([200, expect.anything()])
      const results = eventsOf(await server.events(runId), 'tool_result')
      expect(results).toHaveLength(wrongInputs.length)
      for (const { error } of results) expect(error?.message).toMatch(/`(task|query|message)` must be a text/)
      expect((await server.ask('other', 'hello')).status).toBe(200)
      expect((await server.call('GET', '/health/ready')).status).toBe(200)
    },
  )
})
