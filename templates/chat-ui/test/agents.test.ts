import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { openProject, scriptedModel } from 'agentserve/testing'
import config from '../agent.config.ts'

// The agents as the server runs them, in this process, with a model that says what the test wants.
const model = scriptedModel(({ text }) => (text.includes('<passage') ? 'Until fourteen [1].' : 'I have no idea.'))
const project = await openProject(config, { model })
after(() => project.close())

test('docs answers from the passages that fit the question', async () => {
  const { text, sources } = await project.run('docs', 'How long is the library open on Saturdays?')
  assert.equal(text, 'Until fourteen [1].')
  assert.deepEqual(sources, ['docs/opening-hours.md'])
})

test('letter sends nothing that was not approved', async () => {
  const { status, run_id } = await project.run('letter', 'We are closed tomorrow.')
  assert.equal(status, 'input_required')
  const { text } = await project.resume(run_id, { approved: true })
  assert.match(text, /sent:.*closed tomorrow/s)
})
