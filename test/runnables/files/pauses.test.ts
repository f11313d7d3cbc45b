import { tool } from 'ai'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { team } from '../../../src/runnables/team/team.ts'
import { scriptedModel } from '../../../src/testing/scripted-model.ts'
import { eventsOf } from '../agent-server.ts'
import { openFiles, picture, text, upload } from './opened.ts'

const file = expect.objectContaining({ type: 'file', data: { type: 'data', data: picture(30) } })

test('the leader and the waiting member of a team have their files again after a resume', async () => {
  const publish = tool({ inputSchema: z.object({}), execute: async () => 'done' })
  const writer = scriptedModel({ tool_calls: [{ name: 'publish' }] }, 'Published.')
  const leader = scriptedModel({ tool_calls: [{ name: 'ask_writer', input: { task: 'Publish it.' } }] }, 'All done.')
  const member = agent({
    name: 'writer',
    model: writer,
    tools: { publish },
    toolApproval: { publish: 'user-approval' },
  })
  await using server = await openFiles({ teams: { crew: team({ mode: 'lead', members: [member], model: leader }) } })
  const paused = await server.run('crew', [text('Publish this.'), upload(picture(30))])
  expect(paused).toMatchObject({ status: 'input_required' })
  const checkpoints = eventsOf(await server.events(paused.run_id), 'input_required')
  expect(JSON.stringify(checkpoints)).toContain('"agentserve":"file_')
  expect(await server.resume(paused.run_id)).toMatchObject({ status: 'completed', error: null })
  for (const { calls } of [leader, writer]) {
    expect(calls).toHaveLength(2)
    for (const { prompt } of calls) expect(prompt[prompt[0]?.role === 'system' ? 1 : 0]?.content).toContainEqual(file)
  }
})

test('an answer with a file is not repeated from the cache: the file belongs to its session', async () => {
  const draw = { text: 'Here:', files: [{ media_type: 'image/png', data: picture(30) }] }
  const model = scriptedModel(draw, draw)
  await using server = await openFiles({ agents: { helper: agent({ model, cache: { ttl: '1h' } }) } })
  const first = await server.run('helper', [text('Draw.')])
  const second = await server.run('helper', [text('Draw.')])
  expect([first.cache_hit, second.cache_hit]).toEqual([false, false])
  expect(second.messages[1]?.parts[1]).toMatchObject({ type: 'file', size: 30 })
})

test("an agent's own code reads the files of its input", async () => {
  const own = agent({
    async *run({ parts, files }) {
      for (const part of parts) if (part.type === 'file') yield `${(await files.read(part)).byteLength} bytes`
    },
  })
  await using server = await openFiles({ agents: { own } })
  expect((await server.run('own', [upload(picture(30))])).messages[1]?.content).toBe('30 bytes')
})
