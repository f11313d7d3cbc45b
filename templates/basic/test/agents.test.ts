import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { openProject, scriptedModel } from 'agentserve/testing'
import config from '../agent.config.ts'

// The agents as the server runs them, in this process, with a model that says what the test wants.
const model = scriptedModel(({ text }) => (text.includes('<passage') ? 'Save it under docs/ [1].' : 'I have no idea.'))
const project = await openProject(config, { model })
after(() => project.close())

test('docs answers from the passages that fit the question', async () => {
  const { text, sources } = await project.run('docs', 'How do I add documents?')
  assert.equal(text, 'Save it under docs/ [1].')
  assert.deepEqual(sources, ['docs/welcome.md'])
})

test('echo says again what it was told', async () => {
  const { status, text } = await project.run('echo', 'hello there')
  assert.deepEqual({ status, text }, { status: 'completed', text: 'hello there' })
})
