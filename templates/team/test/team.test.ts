import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { openProject, scriptedModel } from 'agentserve/testing'
import config from '../agent.config.ts'

const model = scriptedModel(() => 'Open until fourteen o’clock on Saturdays [1].')
const project = await openProject(config, { model })
after(() => project.close())

test('the desk researches, and the editor has the last word', async () => {
  const { status, text, events } = await project.run('desk', 'When does the library close on Saturdays?')
  assert.equal(status, 'completed')
  assert.equal(text, 'Dear reader,\n\nOpen until fourteen o’clock on Saturdays [1].\n\nYours, the desk\n')
  const steps = events.flatMap((event) => (event.type === 'step_start' ? [event.name] : []))
  assert.deepEqual(steps, ['research', 'editor'])
})

test('the research is asked with the passages that fit', async () => {
  await project.run('research', 'How long may I keep a book?')
  assert.match(model.calls.at(-1)?.text ?? '', /four weeks/)
})
