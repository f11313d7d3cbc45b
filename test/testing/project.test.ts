import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, expectTypeOf, it, test } from 'vitest'
import { z } from 'zod'
import type { UserConfig } from '../../src/config/types.ts'
import { AppError } from '../../src/core/error.ts'
import type { Json } from '../../src/core/json.ts'
import { agent } from '../../src/runnables/agent/agent.ts'
import { team } from '../../src/runnables/team/team.ts'
import { tool } from '../../src/runnables/tools/tool.ts'
import { workflow } from '../../src/runnables/workflow/workflow.ts'
import { openProject, run } from '../../src/testing/project.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'

const clock = tool({
  description: 'The time',
  inputSchema: z.object({ zone: z.string() }),
  execute: async ({ zone }) => `noon in ${zone}`,
})

const folders: string[] = []
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true })
})

describe('run()', () => {
  it('runs an agent with a scripted model and tells all that happened', async () => {
    const model = scriptedModel({ tool_calls: [{ name: 'clock', input: { zone: 'UTC' } }] }, 'It is noon.')
    const result = await run(agent({ model, instructions: 'Be brief.', tools: { clock } }), 'What time is it?')
    expect(result).toMatchObject({ status: 'completed', text: 'It is noon.', error: null })
    expect(result.tool_calls).toEqual([{ name: 'clock', input: { zone: 'UTC' }, output: 'noon in UTC' }])
    expect(result.usage).toEqual({ input_tokens: 20, output_tokens: 20, total_tokens: 40 })
    expect(result.events.at(0)).toMatchObject({ type: 'run_start' })
    expect(result.events.at(-1)).toMatchObject({ type: 'run_end' })
    expect(model.calls.map(({ number, text, tools }) => ({ number, text, tools }))).toEqual([
      { number: 1, text: 'What time is it?', tools: ['clock'] },
      { number: 2, text: 'What time is it?', tools: ['clock'] },
    ])
    expect(JSON.stringify(model.calls[1]?.prompt)).toContain('noon in UTC')
  })

  it('tells of a failed run without throwing', async () => {
    const broken = agent({
      run() {
        throw new AppError('run_failed', 'no luck')
      },
    })
    expect(await run(broken, 'go')).toMatchObject({ status: 'failed', error: { message: 'no luck' }, text: '' })
  })

  it('runs workflows with data, and teams', async () => {
    const shout = workflow({ input: z.object({ word: z.string() }), run: ({ input }) => input.word.toUpperCase() })
    expect((await run(shout, { word: 'hey' })).text).toBe('HEY')
    const plan = workflow({ run: ({ text }) => ({ said: text }) })
    const result = await run(plan, 'hey')
    expect(result).toMatchObject({ data: { said: 'hey' }, text: '{"said":"hey"}' })
    expectTypeOf(result.data).toEqualTypeOf<Json | undefined>()
    expect((await run(shout, { word: 'hey' })).data).toBeUndefined()
    const one = agent({ model: scriptedModel('first') })
    const two = agent({ model: scriptedModel('second') })
    expect((await run(team({ members: [one, two] }), 'go')).text).toBe('second')
  })

  it('puts a model in the place of the one that the agent has', async () => {
    const real = agent({ model: 'ollama/there-is-none' })
    const model = scriptedModel(({ text }) => `You said ${text}.`)
    expect((await run(real, 'hello', { model })).text).toBe('You said hello.')
  })

  it('fails the run when the script is too short, or says so', async () => {
    const { error } = await run(agent({ model: scriptedModel(), maxRetries: 0 }), 'hello')
    expect(error?.message).toContain("The script has 0 answers, and this is call 1: 'hello'.")
    const failing = scriptedModel({ error: new Error('rate limit') })
    expect((await run(agent({ model: failing, maxRetries: 0 }), 'x')).error?.message).toContain('rate limit')
  })
})

describe('openProject()', () => {
  it('keeps sessions between runs', async () => {
    const model = scriptedModel('Noted.', 'Blue.')
    await using project = await openProject({ agents: { memo: agent({ model }) } })
    const { session_id } = await project.run('memo', 'My door is blue.')
    expect((await project.run('memo', 'Which colour?', { sessionId: session_id })).text).toBe('Blue.')
    expect(JSON.stringify(model.calls[1]?.prompt)).toContain('My door is blue.')
  })

  it('reads the knowledge sources of the config', async () => {
    const root = await mkdtemp(join(tmpdir(), 'agentserve-testing-'))
    folders.push(root)
    await mkdir(join(root, 'docs'))
    await writeFile(join(root, 'docs/tea.md'), '# Tea\n\nGreen tea is brewed at seventy degrees.\n')
    const config = { knowledge: { sources: ['docs'] }, agents: { docs: agent({ knowledge: true }) } }
    await using project = await openProject(config, { root })
    const result = await project.run('docs', 'How hot is green tea brewed?')
    expect(result.text).toContain('seventy degrees')
    expect(result.sources).toEqual(['docs/tea.md'])
  })

  it('shows the state that a run leaves, and answers requests', async () => {
    const counter = agent({
      run({ state }) {
        state.count = Number(state.count ?? 0) + 1
        return String(state.count)
      },
    })
    await using project = await openProject({ agents: { counter } })
    const { session_id } = await project.run('counter', '', { state: { count: 4 } })
    expect(await project.state(session_id)).toEqual({ count: 5 })
    const { status } = await project.inject({ method: 'GET', url: '/api/v1/agents/counter' })
    expect(status).toBe(200)
  })

  it('throws for an agent that is not there', async () => {
    const config: UserConfig = { agents: {} }
    await using project = await openProject(config)
    await expect(project.run('nobody', 'hi')).rejects.toThrow("There is no agent 'nobody'")
  })
})

test('a test answers what a run waits for, each request by its id', async () => {
  const flow = workflow({ run: async ({ approve }) => `${await approve('one')} and ${await approve('two')}` })
  await using project = await openProject({ workflows: { flow } })
  const first = await project.run('flow', 'x')
  expect(first.waiting).toMatchObject([{ call_id: 'one#1', kind: 'approval' }])
  const second = await project.resume(first.run_id, { answers: { 'one#1': { approved: true, input: 1 } } })
  expect(second.waiting).toMatchObject([{ call_id: 'two#1' }])
  const last = await project.resume(first.run_id, { answers: { 'two#1': { approved: true, input: 2 } } })
  expect(last).toMatchObject({ status: 'completed', text: '1 and 2', waiting: [] })
})

test('a config whose sessions are in Postgres is tested without a database', async () => {
  const storage = { type: 'postgres', url: 'postgres://127.0.0.1:1/agents' } as const
  const echo = agent({
    async *run({ text }) {
      yield text
    },
  })
  await using project = await openProject({ agents: { echo }, server: { storage } })
  expect(await project.run('echo', 'hello')).toMatchObject({ status: 'completed', text: 'hello' })
})
