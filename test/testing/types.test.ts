import { expect, expectTypeOf, test } from 'vitest'
import { agent } from '../../src/runnables/agent/agent.ts'
import { openProject, run, type TestProject } from '../../src/testing/index.ts'

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
