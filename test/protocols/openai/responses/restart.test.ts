import { join } from 'node:path'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { agent } from '../../../../src/runnables/agent/agent.ts'
import { tool } from '../../../../src/runnables/tools/tool.ts'
import { scriptedModel } from '../../../../src/testing/scripted-model.ts'
import { startServer } from '../../../support/server.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'
import { type Any, eventsOf, ResponseFold } from './fold.ts'
import { textOf } from './support.ts'

const pay = tool({ inputSchema: z.object({ euros: z.number() }), needsApproval: true, execute: () => 'paid' })

test('what waited before a restart is answered after it, and every response is there', async () => {
  await using folder = await temporaryFolder()
  const open = (model: ReturnType<typeof scriptedModel>) =>
    startServer(
      { sessionStorage: { type: 'sqlite', path: join(folder.path, 'agentserve.db'), synchronous: 'NORMAL' } },
      { cashier: agent({ tools: { pay }, model }) },
    )
  const first = await open(scriptedModel({ text: 'One moment. ', tool_calls: [{ name: 'pay', input: { euros: 5 } }] }))
  const body = { model: 'cashier', input: 'pay', stream: true, metadata: { order: '7' }, instructions: 'Be kind.' }
  const before = (await first.call('POST', '/v1/responses', body)).text
  const asked = ResponseFold.of(eventsOf(before)).response
  expect(asked).toMatchObject({ status: 'completed', instructions: 'Be kind.', metadata: { order: '7' } })
  await first.close()

  const second = await open(scriptedModel('It is paid.'))
  try {
    const get = async (path: string) => await second.call('GET', `/v1/responses/${path}`)
    expect((await get(asked.id)).json).toEqual(asked)
    expect((await get(`${asked.id}?stream=true`)).text).toBe(before)
    const { id } = asked.output.at(-1) as Any
    const input = [{ type: 'mcp_approval_response', approval_request_id: id, approve: true }]
    const answer = await second.call('POST', '/v1/responses', { previous_response_id: asked.id, input, stream: true })
    const next = ResponseFold.of(eventsOf(answer.text)).response
    expect([next.id, textOf(next)]).toEqual([`${asked.id}_2`, 'It is paid.'])
    expect(next.output).toContainEqual(
      expect.objectContaining({ type: 'mcp_call', output: 'paid', arguments: '{"euros":5}', approval_request_id: id }),
    )
    expect((await get(asked.id)).json).toEqual(asked)
    expect((await get(`${asked.id}?stream=true`)).text).toBe(before)
    expect((await get(next.id)).json).toEqual(next)
    expect((await get(`${next.id}?stream=true`)).text).toBe(answer.text)
    const unknown = await second.call('GET', '/v1/responses/x/y')
    expect([unknown.status, unknown.json.error.code]).toEqual([404, 'route_not_found'])
  } finally {
    await second.close()
  }
})
