import { afterEach, expect, it } from 'vitest'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { team } from '../../../src/runnables/team/team.ts'
import { remoteAgent } from '../../../src/runnables/tools/remote-agent.ts'
import { type RunningTestServer, startServer } from '../../support/server.ts'

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})

async function open(entities: Record<string, object>): Promise<RunningTestServer> {
  const server = await startServer({}, entities)
  closing.push(() => server.close())
  return server
}

const asks = agent({
  *run({ resumed }) {
    if (resumed === undefined) yield { type: 'input_required', prompt: 'A name?' }
    else yield `You are ${JSON.stringify(resumed.input)}.`
  },
})

const copied =
  'This run is a copy, and the task of the remote agent that it waits for belongs to the original. Start a new run.'

/** The session of a run under another id, by a fork or by what was exported. */
const copies: Record<string, (here: RunningTestServer, session: string) => Promise<string>> = {
  fork: async (here, session) => (await here.call('POST', `/api/v1/sessions/${session}/fork`, {})).json.session_id,
  'import under new ids': (here, session) => imported(here, session, '?new_ids=true'),
  async 'import in place of the original'(here, session) {
    const { text } = await here.call('GET', `/api/v1/sessions/${session}/export`)
    expect((await here.call('DELETE', `/api/v1/sessions/${session}`)).status).toBe(200)
    return importText(here, text, '')
  },
}

async function imported(here: RunningTestServer, session: string, query: string): Promise<string> {
  return importText(here, (await here.call('GET', `/api/v1/sessions/${session}/export`)).text, query)
}

async function importText(here: RunningTestServer, text: string, query: string): Promise<string> {
  const answer = await fetch(`${here.url}/api/v1/sessions/import${query}`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-ndjson' },
    body: text,
  })
  const body = (await answer.json()) as { session_id?: string }
  expect([answer.status, body.session_id]).toEqual([201, expect.any(String)])
  return body.session_id ?? ''
}

for (const [how, copy] of Object.entries(copies)) {
  it.each(['asks', 'group'])(
    `${how}: the pause of a remote agent, asked as %s, does not go on with the task of the original`,
    async (id) => {
      const there = await open({ asks })
      const far = remoteAgent({ url: `${there.url}/api/v1/a2a/agents/asks` })
      const here = await open({ asks: far, group: team({ mode: 'parallel', members: ['asks'] }) })
      const original = (await here.call('POST', `/api/v1/agents/${id}/run`, { input: 'go' })).json
      expect(original.status).toBe('input_required')
      const session = await copy(here, original.session_id)
      const { runs } = (await here.call('GET', `/api/v1/runs?session_id=${session}`)).json
      const [paused] = runs.filter((run: { parent_run_id: string | null }) => run.parent_run_id === null)
      expect(paused).toMatchObject({ status: 'input_required' })
      const resumed = (await here.call('POST', `/api/v1/runs/${paused.run_id}/resume`, { input: 'Eve' })).json
      expect(JSON.stringify(resumed)).toContain(copied)
      const [task] = (await there.call('GET', '/api/v1/runs')).json.runs
      if (how.endsWith('original')) return
      // The copy has neither answered nor cancelled it.
      expect(task.status).toBe('input_required')
      const own = await here.call('POST', `/api/v1/runs/${original.run_id}/resume`, { input: 'Ann' })
      expect(JSON.stringify(own.json)).toContain('You are \\"Ann\\".'.replaceAll('\\\\', '\\'))
    },
  )
}

it('a copy that is cancelled leaves the task of the original alone', async () => {
  const there = await open({ asks })
  const here = await open({ asks: remoteAgent({ url: `${there.url}/api/v1/a2a/agents/asks` }) })
  const original = (await here.call('POST', '/api/v1/agents/asks/run', { input: 'go' })).json
  const session = await copies.fork?.(here, original.session_id)
  const [paused] = (await here.call('GET', `/api/v1/runs?session_id=${session}`)).json.runs
  expect((await here.call('POST', `/api/v1/runs/${paused.run_id}/cancel`)).status).toBe(200)
  const own = (await here.call('POST', `/api/v1/runs/${original.run_id}/resume`, { input: 'Ann' })).json
  expect(own.content).toBe('You are "Ann".')
})
