import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Endpoint, openEndpoint, refuse, streamWords } from '../../models/endpoint.ts'
import { command, createProject, type Project } from '../../support/program.ts'

let project: Project
let busy: Endpoint
let idle: Endpoint

beforeAll(async () => {
  busy = await openEndpoint((response) => refuse(response, 429, 'Too many requests'))
  idle = await openEndpoint((response) => streamWords(response, 'from ', 'two'))
  const models = [busy, idle].map(({ baseURL }, place) => ({ baseURL, model: `model-${place + 1}` }))
  const config = `
import { agent, defineConfig } from 'agentserve'
export default defineConfig({ model: ${JSON.stringify(models)}, agents: { helper: agent({}) } })
`
  project = await createProject({ 'agent.config.ts': config })
})
afterAll(async () => {
  await project?.remove()
  await busy?.[Symbol.asyncDispose]()
  await idle?.[Symbol.asyncDispose]()
})

test('a model of the config that is overloaded gives way to the next one, and runs show says so', async () => {
  const { stdout } = await command(project, ['chat', 'helper', '--message', 'hello'])
  expect(stdout).toContain('from two')
  const { run_id: id } = JSON.parse((await command(project, ['runs', 'list', '--json'])).stdout)
  expect((await command(project, ['runs', 'show', id])).stdout).toMatch(
    /\nmodels {3}compatible\/model-1 → compatible\/model-2: status 429: Too many requests\n/,
  )
})
