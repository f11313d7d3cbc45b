import { afterAll, beforeAll, expect, test } from 'vitest'
import { createProject, type Project, type RunningServer, serve } from '../support/program.ts'

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

interface Event {
  type: string
  seq: number
  text?: string
  status?: string
}

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

/** One client of one run: it keeps what it has received whole, and knows nothing else. */
class Client {
  readonly events: Event[] = []
  cuts = 0
  readonly #runId: string

  constructor(runId: string) {
    this.#runId = runId
  }

  get ended(): boolean {
    const last = this.events.at(-1)?.type
    return last === 'run_end' || last === 'run_error'
  }

  get text(): string {
    return this.events.map((event) => event.text ?? '').join('')
  }

  /** Reads on from where it was until so many bytes have come, wherever in an event that is, or until the end. */
  async read(bytes: number): Promise<void> {
    const leaving = new AbortController()
    const last = this.events.at(-1)?.seq
    try {
      const answer = await fetch(`${server.url}/api/v1/runs/${this.#runId}/events`, {
        headers: last === undefined ? {} : { 'Last-Event-ID': `${last}` },
        signal: leaving.signal,
      })
      expect(answer.status).toBe(200)
      let text = ''
      let left = bytes
      const decoder = new TextDecoder()
      for await (const chunk of answer.body as unknown as AsyncIterable<Uint8Array>) {
        text += decoder.decode(chunk.subarray(0, left), { stream: true })
        left -= chunk.length
        const frames = text.split('\n\n')
        text = frames.pop() ?? ''
        for (const frame of frames) this.#take(frame)
        if (left <= 0) break
      }
    } catch (error) {
      if (!(error instanceof TypeError)) throw error
    } finally {
      leaving.abort()
      if (!this.ended) this.cuts++
    }
  }

  #take(frame: string): void {
    const field = (name: string) =>
      frame
        .split('\n')
        .find((line) => line.startsWith(`${name}: `))
        ?.slice(name.length + 2)
    const data = field('data')
    if (data === undefined) return
    const event = JSON.parse(data) as Event
    expect(field('id')).toBe(`${event.seq}`)
    this.events.push(event)
  }

  async readToEnd(): Promise<void> {
    while (!this.ended) await this.read(Number.POSITIVE_INFINITY)
  }
}

const someBytes = () => 1 + Math.floor(Math.random() * 1200)

function assertInOrder({ events }: Client): void {
  const numbers = events.map((event) => event.seq)
  expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b))
  const end = events.length - 1
  expect(numbers.slice(0, end), 'no number is missing before the end').toEqual(
    numbers.slice(0, end).map((_, n) => n + 1),
  )
}

test('gives a client that is cut 30 times every event once, in order', { timeout: 60_000 }, async () => {
  const { run_id } = await background('slow', 'go')
  const client = new Client(run_id)
  while (client.cuts < 30 && !client.ended) await client.read(someBytes())
  await client.readToEnd()
  expect(client.cuts).toBe(30)
  assertInOrder(client)
  expect(client.events.flatMap(({ type, text }) => (type === 'text_delta' ? [text] : []))).toEqual(fragments)
  expect(client.events.at(-1)).toMatchObject({ type: 'run_end', status: 'completed' })
})

test('goes on after a kill -9 among the cuts: nothing missing but a declared last window, nothing twice', {
  timeout: 60_000,
}, async () => {
  const { run_id } = await background('endless', 'go')
  const client = new Client(run_id)
  const killAfter = 10 + Math.floor(Math.random() * 10)
  while (client.cuts < killAfter) await client.read(someBytes())
  const reading = client.read(Number.POSITIVE_INFINITY)
  const last = client.events.length
  while (client.events.length === last) await new Promise((resolve) => setImmediate(resolve))
  await server.kill()
  await reading
  server = await serve(project, 'start')
  await client.read(Number.POSITIVE_INFINITY)
  expect(client.ended).toBe(true)
  assertInOrder(client)
  const run = (await get(`/runs/${run_id}`)) as { status: string; truncated: boolean; content: string }
  expect(run).toMatchObject({ status: 'interrupted', truncated: true })
  const whole = Array.from({ length: 100_000 }, (_, n) => `fragment ${n}. `).join('')
  expect(whole.startsWith(client.text)).toBe(true)
  expect(client.text.startsWith(run.content)).toBe(true)
  expect(client.text.length - run.content.length, 'the last window').toBeLessThan(4096)

  const later = new Client(run_id)
  while (later.cuts < 30 && !later.ended) await later.read(someBytes())
  await later.readToEnd()
  assertInOrder(later)
  expect(later.cuts).toBeGreaterThan(5)
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
    const client = new Client(run_id)
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
