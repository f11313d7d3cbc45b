import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { ServerConfig } from '../../../src/config/types.ts'
import type { RunContext } from '../../../src/core/runnable.ts'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { team } from '../../../src/runnables/team/team.ts'
import { remoteAgent } from '../../../src/runnables/tools/remote-agent.ts'
import { tool } from '../../../src/runnables/tools/tool.ts'
import { workflow } from '../../../src/runnables/workflow/workflow.ts'
import { Channel } from '../../../src/runtime/channel.ts'
import { openCuttingProxy } from '../../support/client/cutting-proxy.ts'
import { seededRandom } from '../../support/seeded-random.ts'
import { type RunningTestServer, startServer } from '../../support/server.ts'
import { answer, callTool, scripted } from '../fixture.ts'

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})

async function open(entities: Record<string, object>, config: ServerConfig = {}): Promise<RunningTestServer> {
  const server = await startServer(config, entities)
  closing.push(() => server.close())
  return server
}

/** The agents of another server, by their cards, under the same ids here. */
async function openBoth(entities: Record<string, object>) {
  const there = await open(entities)
  const far = Object.keys(entities).map((id) => [id, remoteAgent({ url: `${there.url}/api/v1/a2a/agents/${id}` })])
  return { there, here: await open(Object.fromEntries(far)) }
}

const run = async (server: RunningTestServer, id: string, input: unknown, more: object = {}) =>
  (await server.call('POST', `/api/v1/agents/${id}/run`, { input, ...more })).json
const resume = async (server: RunningTestServer, runId: string, body: object) =>
  (await server.call('POST', `/api/v1/runs/${runId}/resume`, body)).json
const runsOf = async (server: RunningTestServer) => (await server.call('GET', '/api/v1/runs')).json.runs

describe('an agent of another agentserve, by its card', () => {
  it('gives its data and files in their order, and takes ours', async () => {
    const draws = agent({
      async *run({ parts, files }) {
        yield 'Here: '
        yield { type: 'data', data: { parts: parts.map(({ type }) => type) } }
        for (const part of parts) {
          if (part.type === 'file') yield { ...part, type: 'file', data: await files.read(part) }
        }
        yield 'That is all.'
      },
    })
    const { here } = await openBoth({ draws })
    const file = { type: 'file', media_type: 'text/plain', name: 'a.txt' }
    const done = await run(here, 'draws', {
      parts: [
        { type: 'text', text: 'go' },
        { ...file, data: btoa('mine') },
      ],
    })
    const { parts } = done.messages.at(-1)
    expect(parts).toEqual([
      { type: 'text', text: 'Here: ' },
      { type: 'data', data: { parts: ['text', 'file'] } },
      { ...file, size: 4, file_id: expect.stringMatching(/^file_/) },
      { type: 'text', text: 'That is all.' },
    ])
    const kept = await here.call('GET', `/api/v1/sessions/${done.session_id}/files/${parts[2].file_id}`)
    expect(kept.text).toBe('mine')
  })

  it('remembers each session of ours', async () => {
    const recall = agent({
      async *run({ history, text }) {
        const said = (await history()).filter(({ role }) => role === 'user').map(({ content }) => content)
        yield [...said, text].join(' | ')
      },
    })
    const { here } = await openBoth({ recall })
    const { session_id } = await run(here, 'recall', 'one')
    expect((await run(here, 'recall', 'two', { session_id })).content).toBe('one | two')
    expect((await run(here, 'recall', 'three')).content).toBe('three')
  })

  it('asks us for its approvals and its input, and goes on with each answer', async () => {
    const pays = agent({
      model: scripted(
        callTool('pay', { euro: 5 }),
        answer('It is done.'),
        callTool('pay', { euro: 9 }),
        answer('Not so.'),
      ),
      tools: { pay: tool({ inputSchema: z.object({ euro: z.number() }), needsApproval: true, execute: () => 'paid' }) },
    })
    const books = workflow({
      async run({ approve }) {
        const room = await approve('room', { from: 1 })
        return { room: room ?? null, sure: (await approve('sure')) ?? null }
      },
    })
    const schema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }
    const own = agent({
      *run({ resumed }) {
        if (resumed === undefined) yield { type: 'input_required', prompt: 'A name?', schema }
        else yield `You are ${JSON.stringify(resumed.input)}.`
      },
    })
    const { here } = await openBoth({ pays, books, own })

    const paid = await run(here, 'pays', 'pay five')
    expect(paid.waiting).toMatchObject([{ kind: 'approval', tool: 'pay', data: { euro: 5 } }])
    expect(await resume(here, paid.run_id, { approved: true })).toMatchObject({ content: 'It is done.' })
    const denied = await run(here, 'pays', 'pay nine')
    const [{ call_id }] = denied.waiting
    expect(
      await resume(here, denied.run_id, { answers: { [call_id]: { approved: false, reason: 'too much' } } }),
    ).toMatchObject({ status: 'completed', content: 'Not so.' })

    const booked = await run(here, 'books', 'go')
    expect(booked.waiting).toMatchObject([{ kind: 'approval', prompt: "Approve 'room'?", data: { from: 1 } }])
    const sure = await resume(here, booked.run_id, { approved: true, input: 'the blue one' })
    expect(sure.waiting).toMatchObject([{ kind: 'approval', prompt: "Approve 'sure'?" }])
    const end = await resume(here, booked.run_id, { approved: true })
    expect(end.messages.at(-1).parts).toEqual([{ type: 'data', data: { room: 'the blue one', sure: null } }])

    const asked = await run(here, 'own', 'go')
    expect(asked.waiting).toMatchObject([{ kind: 'input', prompt: 'A name?', schema }])
    const wrong = await here.call('POST', `/api/v1/runs/${asked.run_id}/resume`, { input: { name: 7 } })
    expect([wrong.status, wrong.text]).toEqual([400, expect.stringContaining('input.name')])
    expect(await resume(here, asked.run_id, { input: { name: 'Ann' } })).toMatchObject({
      content: 'You are {"name":"Ann"}.',
    })
  })

  it('fails with what it says, wants the right key, and ends a circle of servers', async () => {
    const keys = ['right-key-123']
    const there = await open({}, { auth: { keys } })
    const url = `${there.url}/api/v1/a2a/agents/echo/`
    const settings = { url: 'http://127.0.0.1:1' }
    const loop = agent({ run: (context) => remoteAgent(settings).run(context, context as unknown as RunContext) })
    const here = await open({
      none: remoteAgent({ url: `${there.url}/api/v1/a2a/agents/none/`, apiKey: 'right-key-123' }),
      unknown: remoteAgent({ url, apiKey: 'wrong-key-123' }),
      right: remoteAgent({ url, apiKey: 'right-key-123' }),
      loop,
    })
    expect((await run(here, 'none', 'hi')).error.message).toContain('no agent card was found at')
    expect((await run(here, 'unknown', 'hi')).error.message).toContain('it refused the `apiKey`')
    expect((await run(here, 'right', 'hi')).content).toBe('hi')
    settings.url = `${here.url}/api/v1/a2a/agents/loop`
    expect((await run(here, 'loop', 'go')).error.message).toContain('Do they call each other in a circle?')
    expect((await runsOf(here)).filter(({ entity_id }: { entity_id: string }) => entity_id === 'loop')).toHaveLength(9)
  })

  it('is cancelled with our run', async () => {
    const stuck = agent({
      async *run({ signal }) {
        yield 'thinking '
        await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }))
      },
    })
    const { there, here } = await openBoth({ stuck })
    const { run_id } = await run(here, 'stuck', 'go', { background: true })
    const content = async () => (await here.call('GET', `/api/v1/runs/${run_id}`)).json.messages.at(-1).content
    await expect.poll(content, { timeout: 20_000 }).toBe('thinking ')
    await here.call('POST', `/api/v1/runs/${run_id}/cancel`, {})
    const status = async () => (await runsOf(there))[0].status
    await expect.poll(status, { timeout: 20_000 }).toBe('cancelled')
  })

  it('does not wait any more when our run is cancelled that waits for it, or the run around that', async () => {
    const books = workflow({ run: ({ approve }) => approve('room') })
    const there = await open({ books })
    const far = remoteAgent({ url: `${there.url}/api/v1/a2a/agents/books` })
    const desk = agent({ model: scripted(callTool('book', { message: 'go' })), tools: { book: far } })
    const here = await open({ far, desk, office: team({ members: ['far'] }) })
    for (const id of ['far', 'desk', 'office']) {
      const { run_id, status } = await run(here, id, 'go')
      expect(status).toBe('input_required')
      expect((await runsOf(there))[0].status).toBe('input_required')
      await here.call('POST', `/api/v1/runs/${run_id}/cancel`, {})
      await expect.poll(async () => (await runsOf(there))[0].status, { timeout: 20_000 }).toBe('cancelled')
    }
  })

  it('is read whole and once, however often its stream is cut', async () => {
    const rounds = new Channel<number>()
    const words = (round: number) => Array.from({ length: 25 }, (_, at) => `${round}.${at} `)
    const slow = agent({
      async *run() {
        for await (const round of rounds) yield* words(round)
      },
    })
    const there = await open({ slow })
    const proxy = await openCuttingProxy(there.url)
    closing.push(() => proxy.close())
    const random = seededRandom()
    const here = await open({ far: remoteAgent({ url: `${proxy.url}/api/v1/a2a/agents/slow` }) })
    const { run_id } = await run(here, 'far', 'go', { background: true })
    const record = async () => (await here.call('GET', `/api/v1/runs/${run_id}`)).json
    let said = ''
    for (let round = 0; round < 8; round++) {
      // The first round shows that the stream is there.
      if (round > 0) proxy.cutAfter(1 + Math.floor(random() * 3000))
      void rounds.push(round)
      said += words(round).join('')
      await expect.poll(async () => (await record()).messages.at(-1).content, { timeout: 30_000 }).toBe(said)
      if (round > 0) expect(proxy.disarm()).toBe(true)
    }
    rounds.close()
    await expect.poll(async () => (await record()).status, { timeout: 30_000 }).toBe('completed')
    expect((await record()).content).toBe(said)
    expect(await runsOf(there)).toMatchObject([{ status: 'completed' }])
  })
})
