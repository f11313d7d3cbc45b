import { expect, test } from 'vitest'
import { agent, asTool, defineConfig, workflow } from '../../src/index.ts'
import { openProject, scriptedModel } from '../../src/testing/index.ts'

test('agents under test ask each other, and a pause is resumed', async () => {
  const config = defineConfig({
    agents: {
      writer: agent({ instructions: 'Write.' }),
      lead: agent({ tools: { writer: asTool('writer') } }),
      main: agent({
        async *run({ ask, text }) {
          yield (await ask('writer', text)).text
          yield (await ask('release', 'x')).text
        },
      }),
    },
    workflows: { release: workflow({ run: async ({ approve }) => ` ${await approve('it')}` }) },
  })
  const model = scriptedModel(
    { text: 'A draft.' },
    { tool_calls: [{ name: 'writer', input: { question: 'tea' } }] },
    { text: 'Another draft.' },
    { text: 'Done.' },
  )
  await using project = await openProject(config, { model })
  const paused = await project.run('main', 'tea')
  expect(paused).toMatchObject({ status: 'input_required', text: 'A draft.' })
  expect(await project.resume(paused.run_id, { approved: true, input: 'ok' })).toMatchObject({ text: 'A draft. ok' })
  const led = await project.run('lead', 'tea')
  expect(led).toMatchObject({
    status: 'completed',
    text: 'Done.',
    tool_calls: [{ name: 'writer', output: 'Another draft.' }],
  })
})
