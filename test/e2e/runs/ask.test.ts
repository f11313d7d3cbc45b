import { afterEach, expect, it } from 'vitest'
import { createProject, type Project, type RunningServer, serve } from '../../support/program.ts'

const config = `
import { appendFileSync, existsSync, writeFileSync } from 'node:fs'
import { agent, defineConfig, workflow } from 'agentserve'

// The process dies here, once, as by a kill -9 from outside.
async function at(place) {
  if (process.env.KILL_AT !== place || existsSync('killed')) return
  writeFileSync('killed', place)
  process.kill(process.pid, 'SIGKILL')
  await new Promise(() => {})
}

const helper = (name) => agent({
  async *run({ text }) {
    appendFileSync('asked', name + '\\n')
    await at('begin ' + name)
    yield name + ' says ' + text
    await at('in ' + name)
  },
})

export default defineConfig({
  agents: { first: helper('first'), second: helper('second') },
  workflows: {
    main: workflow({
      async run({ text, ask }) {
        await at('start')
        const one = await ask('first', text)
        await at('after first')
        const two = await ask('second', one.text)
        await at('after second')
        return two.text
      },
    }),
  },
})
`

let project: Project | undefined
let running: RunningServer | undefined
afterEach(async () => {
  await running?.kill()
  await project?.remove()
  running = project = undefined
})

async function call(server: RunningServer, method: string, path: string, body?: unknown) {
  const response = await fetch(`${server.url}/api/v1${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  return (await response.json()) as any
}

async function begin(at: Project, killAt: string): Promise<RunningServer> {
  running = await serve(at, 'start', [], { KILL_AT: killAt })
  return running
}

it.each([
  ['start', { first: 1, second: 1 }],
  ['begin first', { first: 2, second: 1 }],
  ['in first', { first: 2, second: 1 }],
  ['after first', { first: 1, second: 1 }],
  ['begin second', { first: 1, second: 2 }],
  ['in second', { first: 1, second: 2 }],
  ['after second', { first: 1, second: 1 }],
])(
  'a workflow killed at "%s" asks again only what had not answered',
  async (place, counts) => {
    project = await createProject({ 'agent.config.js': config })
    let server = await begin(project, place)
    // The process may die before it answers.
    await call(server, 'POST', '/agents/main/run', { input: 'tea', background: true }).catch(() => undefined)
    await server.finished
    expect(await project.read('killed')).toBe(place)

    server = await begin(project, place)
    const { runs: all } = await call(server, 'GET', '/runs')
    const [main] = (all as { run_id: string; entity_id: string; status: string }[]).filter(
      ({ entity_id }) => entity_id === 'main',
    )
    const runId = main?.run_id
    expect(main?.status).toBe('interrupted')
    await call(server, 'POST', `/runs/${runId}/resume`, {})
    await (await fetch(`${server.url}/api/v1/runs/${runId}/events`)).text()
    expect(await call(server, 'GET', `/runs/${runId}`)).toMatchObject({
      status: 'completed',
      content: 'second says first says tea',
    })
    const asked = (await project.read('asked')).trim().split('\n')
    expect(asked.filter((name) => name === 'first')).toHaveLength(counts.first)
    expect(asked.filter((name) => name === 'second')).toHaveLength(counts.second)
    const { runs } = await call(server, 'GET', `/runs?parent_run_id=${runId}`)
    const statuses = (runs as { status: string }[]).map(({ status }) => status).toSorted()
    const again = counts.first + counts.second - 2
    expect(statuses).toEqual([...Array(2).fill('completed'), ...Array(again).fill('interrupted')])
    await server.stop()
  },
  60_000,
)
