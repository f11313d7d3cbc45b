import { expect, test } from 'vitest'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { withDefaults } from '../../../src/runnables/base/defaults.ts'
import { toolSource } from '../../../src/runnables/tools/source.ts'
import { answer, collect, fakeContext, scripted } from '../fixture.ts'

test('an agent answers without tools when its only source has none, as an MCP server may', async () => {
  const model = scripted(answer('ok'))
  const empty = toolSource({}, { open: async () => [] })
  const bound = withDefaults(agent({ model, tools: { empty } }), {})
  const { text, error } = await collect(bound, 'go', fakeContext())
  expect({ text, error }).toEqual({ text: 'ok', error: undefined })
  expect(model.doStreamCalls[0]?.tools ?? []).toEqual([])
})
