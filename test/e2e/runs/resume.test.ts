import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { EventReader } from '../../support/client/event-reader.ts'
import { createProject, type Project, type RunningServer, serve } from '../../support/program.ts'
import { seededRandom } from '../../support/seeded-random.ts'

const fragmentCount = 200
const fragments = Array.from({ length: fragmentCount }, (_, n) => `fragment ${n}. `)

const config = `
import { setTimeout as pause } from 'node:timers/promises'
import { agent, defineConfig } from 'agentserve'
export default defineConfig({
  agents: {
    slow: agent({
      async *run() {
        for (let n = 0; n < ${fragmentCount}; n++) {
          await pause(n % 4)
          yield 'fragment ' + n + '. '
        }
      },
    }),
    endless: agent({
      async *run({ signal }) {
        for (let n = 0; ; n++) {
          await pause(n % 4, undefined, { signal })
          yield 'fragment ' + n + '. '
        }
      },
    }),
    echo: agent({ async *run({ text }) { yield text } }),
  },
})
`

let project: Project
let server: RunningServer

beforeAll(async () => {
  project = await createProject({ 'agent.config.ts': config })
  server = await serve(project, 'start')
})

afterAll(async () => {
  await server?.stop()
  await project?.remove()
})

async function background(
  agentId: string,
  input: string,
  sessionId?: string,
): Promise<{ run_id: string; status: string }> {
  const answer = await fetch(`${server.url}/api/v1/agents/${agentId}/run`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ input, background: true, ...(sessionId === undefined ? {} : { session_id: sessionId }) }),
  })
  expect(answer.status).toBe(202)
  return (await answer.json()) as { run_id: string; status: string }
}

const get = async (path: string) => (await fetch(`${server.url}/api/v1${path}`)).json()

let random: () => number
beforeEach(() => {
  random = seededRandom()
})
const someBytes = () => 1 + Math.floor(random() * 1200)

function assertInOrder({ gaps, twice }: EventReader): void {
  expect({ gaps, twice }).toEqual({ gaps: [], twice: [] })
}

test('gives a client that is cut 30 times every event once, in order', { timeout: 60_000, retry: 0 }, async () => {
  const { run_id } = await background('slow', 'go')
  const client = new EventReader(server.url, run_id)
  while (client.cuts < 30 && !client.ended) await client.read(someBytes())
  await client.readToEnd()
  expect(client.cuts).toBe(30)
  assertInOrder(client)
  expect(client.events.flatMap(({ type, text }) => (type === 'text_delta' ? [text] : []))).toEqual(fragments)
  expect(client.events.at(-1)).toMatchObject({ type: 'run_end', status: 'completed' })
})

test('goes on after a kill -9 among the cuts: nothing missing but a declared last window, nothing twice', {
  timeout: 60_000,
  retry: 0,
}, async () => {
  const { run_id } = await background('endless', 'go')
  const client = new EventReader(server.url, run_id)
  const killAfter = 10 + Math.floor(random() * 10)
  while (client.cuts < killAfter) await client.read(someBytes())
  const reading = client.read(Number.POSITIVE_INFINITY)
  const last = client.events.length
  while (client.events.length === last) await new Promise((resolve) => setImmediate(resolve))
  await server.kill()
  await reading
  server = await serve(project, 'start')
  client.url = server.url
  await client.read(Number.POSITIVE_INFINITY)
  expect(client.ended).toBe(true)
  assertInOrder(client)
  const run = (await get(`/runs/${run_id}`)) as { status: string; truncated: boolean; content: string }
  expect(run).toMatchObject({ status: 'interrupted', truncated: true })
  const whole = Array.from({ length: 100_000 }, (_, n) => `fragment ${n}. `).join('')
  expect(whole.startsWith(client.text)).toBe(true)
  expect(client.text.startsWith(run.content)).toBe(true)
  expect(client.text.length - run.content.length, 'the last window').toBeLessThan(4096)

  const later = new EventReader(server.url, run_id)
  while (later.cuts < 30 && !later.ended) await later.read(someBytes() / 4)
  await later.readToEnd()
  assertInOrder(later)
  expect(later.cuts).toBeGreaterThan(0)
  expect(later.text).toBe(run.content)
  expect(later.events.at(-1)).toEqual(client.events.at(-1))
})

test('runs after a restart what was queued before a kill', { timeout: 60_000 }, async () => {
  await fetch(`${server.url}/api/v1/sessions`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: '{"session_id":"queue"}',
  })
  const first = await background('endless', 'go', 'queue')
  const waiting = [await background('echo', 'second', 'queue'), await background('echo', 'third', 'queue')]
  expect(waiting.map((run) => run.status)).toEqual(['queued', 'queued'])
  await server.kill()
  server = await serve(project, 'start')
  const answers: string[] = []
  for (const { run_id } of waiting) {
    const client = new EventReader(server.url, run_id)
    await client.readToEnd()
    assertInOrder(client)
    answers.push(client.text)
  }
  expect(answers).toEqual(['second', 'third'])
  const { runs } = (await get('/sessions/queue/runs')) as {
    runs: { run_id: string; status: string; started_at: string }[]
  }
  expect(runs.map((run) => [run.run_id, run.status]).reverse()).toEqual([
    [first.run_id, 'interrupted'],
    ...waiting.map(({ run_id }) => [run_id, 'completed']),
  ])
  const [, second, third] = runs.toReversed()
  expect(`${second?.started_at}` <= `${third?.started_at}`).toBe(true)
})
