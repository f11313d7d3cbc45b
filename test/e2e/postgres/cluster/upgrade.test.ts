import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, onTestFailed, test } from 'vitest'
import { agentsFile } from '../../../support/cluster/agents.ts'
import { Balancer } from '../../../support/cluster/balancer.ts'
import { type Instance, type Instances, startInstances } from '../../../support/cluster/instances.ts'
import { describePostgres } from '../../../support/postgres/describe-postgres.ts'
import { newestStep } from '../../../support/postgres/newer-steps.ts'
import { type Place, testPostgres } from '../../../support/postgres/test-postgres.ts'
import { command, createProject, type Project } from '../../../support/program.ts'

const preload = pathToFileURL(join(import.meta.dirname, '../../../support/cluster/newer-version.ts')).href
const newer = (kind: 'expand' | 'contract') => ({
  NODE_OPTIONS: `--no-warnings --import=${preload}`,
  NEWER_VERSION: kind,
})
const clients = 6
const endless = '100000 20 endless'

interface Run {
  run_id: string
  status: string
  content: string
  cancellation_reason: string | null
  started_at: string
  completed_at: string
}

describePostgres('three instances that are replaced by another version, one after the other', () => {
  let place: Place
  let project: Project
  let instances: Instances
  let all: readonly Instance[]
  let balancer: Balancer
  beforeAll(async () => {
    place = await (await testPostgres()).newDatabase()
    project = await createProject({ 'agent.config.ts': agentsFile('agents') })
    const env = { AGENTSERVE_STOP_WITHIN: '3s' }
    instances = await startInstances({ url: place.url, schema: 'agents', names: ['a', 'b', 'c'], env })
    all = instances.all
    balancer = new Balancer(all)
    for (let number = 0; number < clients; number++)
      expect((await balancer.ask('/sessions', { session_id: `client-${number}` })).status).toBe(201)
  }, 60_000)
  afterAll(async () => {
    await balancer?.close()
    await instances?.close()
    await project?.remove()
    await place?.drop()
  })

  const storage = (args: string[], env: Record<string, string> = {}) =>
    command(project, ['storage', ...args], '', { AGENTSERVE_DATABASE_URL: place.url, ...env })
  const stateOf = async () => JSON.parse((await storage(['status', '--json'], newer('contract'))).stdout).schema
  const find = async (runId: string) => (await balancer.ask(`/runs/${runId}`)).body as Run

  /** Clients that ask until the returned function is called, which gives what came of it. */
  function load(): () => Promise<{ asked: number; wrong: string[]; later: number }> {
    const before = balancer.later
    const wrong: string[] = []
    let asked = 0
    let over = false
    const client = async (number: number) => {
      for (let turn = 0; !over; turn++) {
        asked++
        const input = turn % 3 === 0 ? '20 20' : `client ${number} turn ${turn}`
        const [agent, expected] = turn % 3 === 0 ? ['ticking', fragments(20)] : ['echo', input]
        try {
          const { status, body } = await balancer.ask(`/agents/${agent}/run`, {
            input,
            ...(turn % 2 === 0 && { session_id: `client-${number}` }),
          })
          if (status !== 200 || body.content !== expected) wrong.push(`${agent}: ${status} ${JSON.stringify(body)}`)
        } catch (error) {
          wrong.push(`${agent}: ${error} ${(error as Error).cause ?? ''}`)
        }
      }
    }
    const working = Array.from({ length: clients }, (_, number) => client(number))
    return async () => {
      over = true
      await Promise.all(working)
      return { asked, wrong, later: balancer.later - before }
    }
  }

  /** Stops an instance that has all kinds of runs, and starts it as this version. Gives what became of the runs. */
  async function replace(instance: Instance, env: Record<string, string>) {
    const begin = (input: string, more: object = {}) => instance.client.agents.background('ticking', { input, ...more })
    const cut = await begin(endless)
    const [short, next] = [await begin('100 20 short'), await begin('3 0 next', { session_id: cut.session_id })]
    const after = await begin('3 0 after', { session_id: cut.session_id })
    await expect.poll(async () => (await find(short.run_id)).status).toBe('running')
    const { code } = await instance.stop()
    expect(code).toBe(0)
    await expect.poll(async () => (await find(after.run_id)).status, { timeout: 10_000 }).toBe('completed')
    const [ended, finished, moved] = [await find(cut.run_id), await find(short.run_id), await find(next.run_id)]
    await instance.start(env)
    return { ended, finished, moved, movedMs: Date.parse(moved.started_at) - Date.parse(ended.completed_at) }
  }

  /** All of them, under load: no request fails, what waits moves at once, and what is running has its time. */
  async function roll(env: Record<string, string>, which = all): Promise<void> {
    const end = load()
    const moves: number[] = []
    for (const instance of which) {
      const { ended, finished, moved, movedMs } = await replace(instance, env)
      expect(ended).toMatchObject({ status: 'cancelled', cancellation_reason: 'shutdown' })
      expect(finished).toMatchObject({ status: 'completed', content: fragments(100) })
      expect(moved).toMatchObject({ status: 'completed', content: fragments(3) })
      moves.push(movedMs)
    }
    const { asked, wrong, later } = await end()
    console.info(`${asked} requests, ${later} of them again later; waiting runs moved after ${moves.join(', ')} ms`)
    expect({ count: wrong.length, first: wrong.slice(0, 5) }).toEqual({ count: 0, first: [] })
    expect(asked).toBeGreaterThan(100)
    const [middle = 0, longest = 0] = [
      moves.toSorted((one, other) => one - other)[moves.length >> 1],
      Math.max(...moves),
    ]
    expect(middle).toBeLessThan(1_000)
    // Less than it takes to declare an instance dead.
    expect(longest).toBeLessThan(10_000)
  }

  test('lose no request on the way there and back, before a contract step', { timeout: 180_000 }, async () => {
    await roll(newer('expand'))
    expect(await stateOf()).toMatchObject({ applied: newestStep + 1, missing: 0, waiting: [newestStep + 2] })
    await roll({})
    expect(await stateOf()).toMatchObject({ applied: newestStep + 1, missing: 0, waiting: [newestStep + 2] })
  })

  test('contract when the last older one is gone, and none comes back', { timeout: 180_000 }, async () => {
    const [a, b, c] = all as [Instance, Instance, Instance]
    await roll(newer('contract'), [a, b])
    const early = await storage(['upgrade', '--json'], newer('contract'))
    expect(early).toMatchObject({ code: 1, stderr: expect.stringContaining("that can't work with it") })
    expect(JSON.parse(early.stdout)).toMatchObject({
      ...{ step: newestStep + 1, applied: 0, waiting: [newestStep + 2] },
      older: [{ knows: newestStep, address: expect.stringMatching(new RegExp(`:${new URL(c.url).port}$`)) }],
    })
    await roll(newer('contract'), [c])
    expect(await stateOf()).toMatchObject({ applied: newestStep + 2, missing: 0, waiting: [] })
    expect((await storage(['upgrade'], newer('contract'))).code).toBe(0)
    await c.stop()
    const refused = await c.start().catch((error: Error) => error.message)
    onTestFailed(() => console.error(refused))
    expect(refused).toMatch(new RegExp(`it ended \\(1\\).*step ${newestStep + 2}.*Install a newer agentserve`, 's'))
    expect((await storage(['status'])).stderr).toContain('Install a newer agentserve')
    expect((await balancer.ask('/agents/echo/run', { input: 'still' })).body.content).toBe('still')
  })
})

function fragments(count: number): string {
  return Array.from({ length: count }, (_, number) => `fragment ${number}. `).join('')
}
