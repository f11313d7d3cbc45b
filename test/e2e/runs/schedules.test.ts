import { afterEach, beforeEach, expect, test } from 'vitest'
import { createClient } from '../../../src/client/index.ts'
import { command, createProject, type Project, serve } from '../../support/program.ts'
import { type Receiver, startReceiver } from '../../support/push-receiver.ts'

/* Schedules and webhooks of the real program, which is killed. */

const key = Buffer.alloc(32, 5).toString('base64')
const configOf = (url: string, schedules: string) => `
import { agent, defineConfig } from 'agentserve'
const slow = agent({
  async *run({ signal }) { yield 'begun'; await new Promise((done) => signal.addEventListener('abort', done)) },
})
export default defineConfig({
  agents: { echo: agent({ async *run({ text }) { yield text } }), slow },
  schedules: ${schedules},
  webhooks: { ops: { url: '${url}', secret: 'whsec_${key}', allowHttp: true, allowPrivate: true } },
})
`
const everySecond = "{ ticks: { cron: '* * * * * *', agent: 'echo', input: 'tick', overlap: 'allow' } }"
const off = "{ nightly: { cron: '0 3 * * *', agent: 'echo', input: 'hello', timeZone: 'Europe/Berlin' } }"

let receiver: Receiver
let project: Project
beforeEach(async () => {
  receiver = await startReceiver()
  project = await createProject()
})
afterEach(async () => {
  await receiver.close()
  await project.remove()
})

interface Fired {
  run_id: string
  due_at: string
}

async function firedOf(url: string): Promise<Fired[]> {
  const client = createClient({ url })
  const found: Fired[] = []
  for (let cursor: string | undefined; ; ) {
    const page = await client.runs.list({}, { limit: 100, cursor })
    for (const { run_id } of page.runs) {
      const { metadata } = await client.runs.get(run_id)
      const fired = metadata?.schedule as { due_at: string } | undefined
      found.push({ run_id, due_at: fired?.due_at ?? '' })
    }
    if (page.next_cursor === null) break
    cursor = page.next_cursor
  }
  await client.close()
  return found
}

test('starts each due time once, and tells of each run, though it is killed again and again', {
  timeout: 120_000,
}, async () => {
  await project.write('agent.config.ts', configOf(receiver.url, everySecond))
  let server = await serve(project, 'start')
  for (let round = 1; round <= 4; round++) {
    const { url } = server
    await expect.poll(async () => (await firedOf(url)).length, { timeout: 20_000 }).toBeGreaterThan(round * 2)
    await server.kill()
    server = await serve(project, 'start')
  }
  await project.write('other.config.ts', configOf(receiver.url, off))
  await server.stop()
  server = await serve(project, 'start', ['--config', 'other.config.ts'])
  const fired = await firedOf(server.url)
  expect(new Set(fired.map(({ due_at }) => due_at)).size).toBe(fired.length)
  const told = () => new Set(receiver.received.map(({ json }) => json.data.run_id))
  await expect.poll(() => fired.filter(({ run_id }) => !told().has(run_id)), { timeout: 30_000 }).toEqual([])
  const ids = receiver.received.map(({ headers, json }) => `${headers['webhook-id']} ${json.data.run_id}`)
  expect(new Set(ids).size).toBe(fired.length)
  await server.stop()
})

test('tells of a run that a kill interrupts, and of what the receiver has missed', { timeout: 60_000 }, async () => {
  await project.write('agent.config.ts', configOf(receiver.url, off))
  const first = await serve(project, 'start')
  receiver.answer((request) => void request.socket.destroy())
  const client = createClient({ url: first.url })
  const { run_id: ended } = await client.agents.run('echo', { input: 'a secret question' })
  const { run_id: open } = await client.agents.background('slow', { input: 'x' })
  await expect.poll(() => receiver.received.length, { timeout: 20_000 }).toBeGreaterThan(0)
  await client.close()
  await first.kill()
  receiver.received.length = 0
  receiver.answer((_, response) => void response.writeHead(200).end('thanks'))
  const second = await serve(project, 'start')
  const told = () => receiver.received.map(({ json }) => [json.type, json.data.run_id]).sort()
  await expect.poll(told, { timeout: 20_000 }).toEqual([
    ['run.completed', ended],
    ['run.interrupted', open],
  ])
  const { stderr } = await second.stop()
  expect(stderr).not.toContain(key)
  expect(receiver.received.map(({ text }) => text).join()).not.toContain('secret')
})

test('lists, runs and pauses schedules from the command line, with and without a server', {
  timeout: 60_000,
}, async () => {
  await project.write('agent.config.ts', configOf(receiver.url, off))
  const listed = await command(project, ['schedules'])
  expect([listed.code, listed.stdout]).toEqual([
    0,
    expect.stringMatching(/nightly +echo +0 3 \* \* \* +Europe\/Berlin +20/),
  ])
  const ran = await command(project, ['schedules', 'run', 'nightly'])
  expect([ran.code, ran.stdout, ran.stderr]).toEqual([
    0,
    expect.stringMatching(/^run_\w+\n$/),
    expect.stringContaining('agentserve runs tail run_'),
  ])
  const { stdout: report } = await command(project, ['doctor'])
  expect(report).toContain('nightly: echo, 0 3 * * * in Europe/Berlin, next at 20')
  expect(report).toContain(`ops: ${new URL(receiver.url).host}, http allowed, private addresses allowed`)
  const server = await serve(project, 'dev')
  const paused = await command(project, ['schedules', 'pause', 'nightly', '--json'])
  expect(JSON.parse(paused.stdout)).toMatchObject({ name: 'nightly', paused: true, next_at: null })
  expect((await command(project, ['schedules', 'resume', 'nightly'])).stderr).toContain('is due next at 20')
  const wrong = await command(project, ['schedules', 'run', 'nightli'])
  expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining("Did you mean 'nightly'?")])
  expect((await command(project, ['schedules', 'run'])).code).toBe(2)
  await project.write('agent.config.ts', configOf(receiver.url, everySecond))
  await expect.poll(async () => (await firedOf(server.url)).length, { timeout: 20_000 }).toBeGreaterThan(2)
  const [shown] = (await command(project, ['schedules', '--json'])).stdout.trim().split('\n')
  expect(JSON.parse(shown ?? '')).toMatchObject({ name: 'ticks', last_run: { run_id: expect.stringMatching(/^run_/) } })
  await server.stop()
})
