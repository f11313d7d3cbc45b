import { afterEach, expect, test } from 'vitest'
import { createProject, type Project, type RunningServer, serve } from '../../support/program.ts'

const remote = `
import { defineConfig, workflow } from 'agentserve'
export default defineConfig({
  workflows: {
    booking: workflow({
      async run({ approve }) {
        const room = await approve('room', { free: ['blue', 'red'] })
        return { booked: room }
      },
    }),
  },
})
`

const local = `
import { defineConfig, remoteAgent, team } from 'agentserve'
const booking = remoteAgent({ url: process.env.THERE + '/api/v1/a2a/agents/booking/' })
export default defineConfig({
  agents: { booking },
  teams: { office: team({ members: ['booking'] }) },
})
`

const servers: RunningServer[] = []
const projects: Project[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.kill()
  for (const project of projects.splice(0)) await project.remove()
})

async function open(config: string): Promise<Project> {
  const project = await createProject({ 'agent.config.ts': config })
  projects.push(project)
  return project
}

async function start(project: Project, env: Record<string, string> = {}): Promise<RunningServer> {
  const server = await serve(project, 'start', [], env)
  servers.push(server)
  return server
}

async function post(server: RunningServer, path: string, body: object) {
  const answer = await fetch(`${server.url}/api/v1${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  })
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into an answer of any shape
  return (await answer.json()) as any
}

test('a pause of a remote agent outlives both servers, and its data comes through', { timeout: 120_000 }, async () => {
  const [there, here] = [await open(remote), await open(local)]
  const far = await start(there)
  const near = await start(here, { THERE: far.url })
  const paused = await Promise.all(
    ['booking', 'office'].map((id) => post(near, `/agents/${id}/run`, { input: 'book' })),
  )
  for (const run of paused) {
    expect(run).toMatchObject({
      status: 'input_required',
      waiting: [{ kind: 'approval', prompt: "Approve 'room'?", data: { free: ['blue', 'red'] } }],
    })
  }
  await Promise.all([near.kill(), far.kill()])
  const { url } = await start(there)
  const again = await start(here, { THERE: url })
  for (const { run_id } of paused) {
    const done = await post(again, `/runs/${run_id}/resume`, { approved: true, input: 'blue' })
    expect(done).toMatchObject({ status: 'completed', content: '{"booked":"blue"}' })
    expect(done.messages.at(-1).parts).toEqual([{ type: 'data', data: { booked: 'blue' } }])
  }
})
