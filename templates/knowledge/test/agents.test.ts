import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { openProject, scriptedModel } from 'agentserve/testing'
import config from '../agent.config.ts'

// A model that searches once and then says what it was given.
const model = scriptedModel(({ tools, prompt }) => {
  const last = prompt.at(-1)
  if (tools.includes('search_knowledge') && last?.role !== 'tool') {
    return { tool_calls: [{ name: 'search_knowledge', input: { query: 'holidays a year' } }] }
  }
  return JSON.stringify(last?.content)
})
const project = await openProject(config, { model })
after(() => project.close())

test('handbook is given the passage that answers the question', async () => {
  const { text, sources } = await project.run('handbook', 'What is the daily allowance abroad?')
  assert.match(text, /60 euros abroad/)
  assert.equal(sources[0], 'docs/travel.md')
})

test('researcher searches by itself', async () => {
  const { text, tool_calls } = await project.run('researcher', 'How long may I be away?')
  assert.deepEqual(
    tool_calls.map(({ name }) => name),
    ['search_knowledge'],
  )
  assert.match(text, /thirty days of holiday/)
})
