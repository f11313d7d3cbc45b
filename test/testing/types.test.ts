import { expect, expectTypeOf, test } from 'vitest'
import { agent } from '../../src/runnables/agent/agent.ts'
import { openProject, type RunResult, run, scriptedModel, type TestProject } from '../../src/testing/index.ts'

test('a project knows the ids of its config', async () => {
  await using project = await openProject({ agents: { docs: agent({ run: () => 'yes' }) } })
  expectTypeOf(project).toEqualTypeOf<TestProject<'docs'>>()
  // @ts-expect-error: there is no such entity
  await expect(project.run('docz', 'x')).rejects.toMatchObject({ code: 'agent_not_found' })
  expect((await project.run('docs', 'x')).text).toBe('yes')
})

test('what does not run does not compile', async () => {
  // @ts-expect-error: a Date is no entity
  await expect(run(new Date(), 'x')).rejects.toThrow(/agents.tested/)
})

test('results and scripts have the names of the record', async () => {
  expectTypeOf<RunResult>().toHaveProperty('run_id')
  expectTypeOf<RunResult>().toHaveProperty('session_id')
  expectTypeOf<RunResult>().toHaveProperty('tool_calls')
  // @ts-expect-error: it is called `tool_calls`
  const model = scriptedModel({ toolCalls: [{ name: 'clock' }] })
  const { status, events } = await run(agent({ model }), 'x')
  expect(status).toBe('failed')
  expect(JSON.stringify(events)).toContain('`toolCalls` is now called `tool_calls`')
})
