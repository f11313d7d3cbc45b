import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { openProject } from 'agentserve/testing'
import config from '../agent.config.ts'

const project = await openProject(config)
after(() => project.close())

test('a report has the facts and their source, and its steps are recorded', async () => {
  const { status, text, events } = await project.run('report', { topic: 'green tea', passages: 1 })
  assert.equal(status, 'completed')
  assert.match(text, /^# green tea\n/)
  assert.match(text, /seventy degrees/)
  assert.match(text, /\(docs\/tea\.md\)/)
  const steps = events.flatMap((event) => (event.type === 'step_start' ? [event.name] : []))
  assert.deepEqual(steps, ['collect', 'write'])
})

test('an input that does not fit is refused with its path', async () => {
  await assert.rejects(project.run('report', { topic: '' }), /input\.topic/)
})
