import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import type { ServerConfig } from '../../../src/config/types.ts'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { team } from '../../../src/runnables/team/team.ts'
import { remoteAgent } from '../../../src/runnables/tools/remote-agent.ts'
import { openSdkPeer, type Telling } from '../../support/a2a-peer.ts'
import { type RunningTestServer, startServer } from '../../support/server.ts'
import { answer, callTool, scripted } from '../fixture.ts'

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})

async function open(config: ServerConfig, entities: Record<string, object>): Promise<RunningTestServer> {
  const server = await startServer(config, entities)
  closing.push(() => server.close())
  return server
}

/** Books what it is asked for, after a confirmation. */
function books({ asked, message, isKnown, task, status, artifact }: Telling): void {
  task(isKnown ? 'WORKING' : 'SUBMITTED')
  if (asked.startsWith('book') && !isKnown) status('INPUT_REQUIRED', 'How many?', { data: { from: 1 } })
  else {
    artifact('a', isKnown ? [{ data: { booked: message.parts[0] } }] : [{ data: { free: 3 } }])
    status('COMPLETED', 'Done.')
  }
}

async function openPeer(): Promise<() => ReturnType<typeof remoteAgent>> {
  const peer = await openSdkPeer({ agent: books })
  closing.push(() => peer.close())
  return () => remoteAgent({ url: peer.url, description: 'Books rooms.' })
}

const run = async (server: RunningTestServer, id: string, input: string) =>
  (await server.call('POST', `/api/v1/agents/${id}/run`, { input })).json
const resume = async (server: RunningTestServer, runId: string, body: object) =>
  (await server.call('POST', `/api/v1/runs/${runId}/resume`, body)).json

describe('a remote agent found by its card', () => {
  it('gives its data as the result of a tool, in a run of its own', async () => {
    const model = scripted(callTool('booking', { message: 'what is free?' }), answer('three'))
    const here = await open({}, { desk: agent({ model, tools: { booking: (await openPeer())() } }) })
    const done = await run(here, 'desk', 'rooms?')
    expect(done).toMatchObject({ status: 'completed', content: 'three' })
    expect(JSON.stringify(model.doStreamCalls[1]?.prompt.at(-1))).toContain('{"free":3}')
    expect(model.doStreamCalls[0]?.tools).toMatchObject([{ name: 'booking', description: 'Books rooms.' }])
    const { runs } = (await here.call('GET', `/api/v1/runs?parent_run_id=${done.run_id}`)).json
    expect(runs).toMatchObject([{ entity_id: 'booking', status: 'completed' }])
  })

  it('lets the agent wait whose tool it is, and the team whose member it is', async () => {
    const model = scripted(callTool('booking', { message: 'book' }), answer('booked'))
    const booking = (await openPeer())()
    const desk = agent({ model, tools: { booking } })
    const here = await open({}, { booking, desk, office: team({ members: ['booking', 'echo'] }) })
    for (const [id, said] of [
      ['desk', 'booked'],
      ['office', 'book\n\nAnswers of the team so far:\n\nAnswer of booking:\n{"booked":{"text":"two"}}'],
    ] as const) {
      const paused = await run(here, id, 'book')
      expect(paused).toMatchObject({ status: 'input_required', waiting: [{ kind: 'input', prompt: 'How many?' }] })
      const [{ call_id, child_run_id }] = paused.waiting
      expect(call_id).toBe(child_run_id)
      expect(await resume(here, paused.run_id, { answers: { [call_id]: { input: 'two' } } })).toMatchObject({
        status: 'completed',
        content: said,
      })
    }
  })

  it('goes on where it waited after this server was started again', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'agentserve-'))
    closing.push(() => rm(folder, { recursive: true }))
    const sessionStorage = { type: 'sqlite' as const, path: join(folder, 'sessions.db') }
    const booking = await openPeer()
    const entities = (...answers: Parameters<typeof scripted>) => ({
      booking: booking(),
      desk: agent({ model: scripted(...answers), tools: { booking: booking() } }),
    })
    const first = await startServer({ sessionStorage }, entities(callTool('booking', { message: 'book' })))
    const paused = [await run(first, 'booking', 'book'), await run(first, 'desk', 'book')]
    await first.close()
    const second = await open({ sessionStorage }, entities(answer('booked')))
    expect(paused.map(({ status }) => status)).toEqual(['input_required', 'input_required'])
    const [own, asked] = paused
    expect(await resume(second, own.run_id, { input: 'two' })).toMatchObject({
      status: 'completed',
      content: '{"booked":{"text":"two"}}',
    })
    expect(await resume(second, asked.run_id, { input: 'two' })).toMatchObject({
      status: 'completed',
      content: 'booked',
    })
  })
})
