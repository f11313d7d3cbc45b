import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { JsonObject } from '../../../../src/core/json.ts'
import { agent } from '../../../../src/runnables/agent/agent.ts'
import { tool } from '../../../../src/runnables/tools/tool.ts'
import { scriptedModel } from '../../../../src/testing/scripted-model.ts'
import { runnable } from '../../../support/services.ts'
import type { Any } from './fold.ts'
import { openResponses, textOf } from './support.ts'

const pay = tool({
  inputSchema: z.object({ euros: z.number() }),
  needsApproval: true,
  execute: ({ euros }) => ({ paid: euros }),
})
const twice = { tool_calls: [1, 2].map((euros) => ({ name: 'pay', input: { euros } })) }
const cashier = () => agent({ tools: { pay }, model: scriptedModel(twice, 'Settled.') })
const place = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } as const
const asks = runnable(async function* (_input, { resumed }) {
  if (resumed === undefined) yield { type: 'input_required', prompt: 'Where?', schema: place as unknown as JsonObject }
  else yield `You said ${JSON.stringify(resumed.input)}`
})
const pick = { type: 'function', name: 'pick', parameters: { type: 'object', properties: { of: { type: 'number' } } } }
const picker = () =>
  agent({ model: scriptedModel({ tool_calls: [{ name: 'pick', input: { of: 2 } }] }, 'You picked it.') })

const idsOf = ({ output }: Any, type: string): string[] =>
  output.filter((item: Any) => item.type === type).map((item: Any) => item.call_id ?? item.id)
const approve = (id: string, yes = true, reason?: string) => ({
  type: 'mcp_approval_response',
  approval_request_id: id,
  approve: yes,
  ...(reason && { reason }),
})
const output = (call_id: string, given: unknown) => ({ type: 'function_call_output', call_id, output: given })

describe('approvals', () => {
  async function paused() {
    const server = await openResponses({ cashier: cashier() })
    const asked = await server.create({ model: 'cashier', input: 'pay them' })
    const ids = idsOf(asked, 'mcp_approval_request')
    expect([asked.status, ids.length, asked.output.at(-1).type]).toEqual(['completed', 2, 'mcp_approval_request'])
    return { ...server, asked, ids: ids as [string, string] }
  }

  test('make the next response of the run, and both are there', async () => {
    const { create, get, replay, call, asked, ids } = await paused()
    const input = [approve(ids[0]), approve(ids[1], false, 'Too much.')]
    const body = { input, previous_response_id: asked.id }
    const [next, again] = await Promise.all([create(body), create(body)])
    expect(next.id).toBe(`${asked.id}_2`)
    expect(again).toEqual(next)
    expect(await create(body)).toEqual(next)
    expect(next.previous_response_id).toBe(asked.id)
    const calls = next.output.filter(({ type }: Any) => type === 'mcp_call')
    expect(calls.map(({ status, approval_request_id }: Any) => [status, approval_request_id]).toSorted()).toEqual([
      ['completed', ids[0]],
      ['failed', ids[1]],
    ])
    expect(textOf(next)).toBe('Settled.')
    expect(await get(next.id)).toEqual(next)
    expect(await get(asked.id)).toEqual(asked)
    expect(await replay(asked.id)).toContain('mcp_approval_request')
    expect(await replay(next.id)).toContain('Settled.')
    const other = await call('POST', '/responses', { ...body, input: ids.map((id) => approve(id)) })
    expect([other.status, other.error.code, other.headers['x-should-retry']]).toEqual([409, 'conflict', 'false'])
    const { data } = (await call('GET', `/responses/${next.id}/input_items?order=asc`)).body
    expect(data).toMatchObject([{ approve: true }, { approve: false, reason: 'Too much.' }])
  })

  test('are found without the response, streamed, among what was said before', async () => {
    const { stream, ids } = await paused()
    const input = [
      { role: 'user', content: 'pay them' },
      { type: 'item_reference', id: ids[0] },
      ...ids.map((id) => approve(id)),
    ]
    const { response } = await stream({ model: 'cashier', input })
    expect([response.id.endsWith('_2'), textOf(response)]).toEqual([true, 'Settled.'])
  })

  test('are refused when some are missing, unknown or of another response', async () => {
    const { call, create, asked, ids } = await paused()
    const post = (input: unknown) => call('POST', '/responses', { input, previous_response_id: asked.id })
    const missing = await post([approve(ids[0])])
    expect([missing.status, missing.error.param, missing.error.message]).toEqual([
      400,
      'input',
      expect.stringContaining(ids[1]),
    ])
    const unknown = await post([...ids, 'mcpr_x'].map((id) => approve(id)))
    expect([unknown.status, unknown.error.param]).toEqual([400, 'input[2].approval_request_id'])
    const { id } = await create({ input: 'hi' })
    const elsewhere = await call('POST', '/responses', {
      previous_response_id: id,
      input: ids.map((one) => approve(one)),
    })
    expect([elsewhere.status, elsewhere.error.param]).toEqual([400, 'input[0].approval_request_id'])
    const both = await post([...ids.map((one) => approve(one)), { role: 'user', content: 'and hurry' }])
    expect(both.status).toBe(400)
    expect((await post([output(`call_${asked.id.slice(5)}_x`, 'y')])).status).toBe(400)
  })

  test('can wait while something else is said, and the answered response is not gone on from', async () => {
    const { create, call, asked, ids } = await paused()
    const meanwhile = await create({ model: 'echo', input: 'wait', previous_response_id: asked.id })
    expect([textOf(meanwhile), meanwhile.conversation]).toEqual(['wait', asked.conversation])
    const next = await create({ input: ids.map((id) => approve(id)), previous_response_id: asked.id })
    const late = await call('POST', '/responses', { model: 'echo', input: 'hm', previous_response_id: asked.id })
    expect([late.status, late.error.param]).toEqual([400, 'previous_response_id'])
    const branch = await create({ model: 'echo', input: 'on', previous_response_id: next.id })
    expect(branch.conversation).not.toEqual(asked.conversation)
    const absent = await call('GET', `/responses/${asked.id}_3`)
    expect([absent.status, absent.error.code]).toEqual([404, 'response_not_found'])
    expect((await call('GET', `/responses/${asked.id}_3?stream=true`)).status).toBe(404)
    expect((await call('GET', `/responses/${asked.id}_3/input_items`)).status).toBe(404)
    expect((await call('POST', '/responses', { input: 'x', previous_response_id: `${asked.id}_3` })).error.code).toBe(
      'previous_response_not_found',
    )
  })
})

test('a tool of the caller is called and answered, also by its id alone', async () => {
  for (const withId of [true, false]) {
    const { create, get } = await openResponses({ picker: picker() })
    const asked = await create({ model: 'picker', input: 'pick', tools: [pick], store: withId })
    const [call] = asked.output
    expect(call).toMatchObject({ type: 'function_call', name: 'pick', arguments: '{"of":2}', status: 'completed' })
    const input = withId
      ? [output(call.call_id, 'the first')]
      : [{ role: 'user', content: 'pick' }, call, output(call.call_id, [{ type: 'input_text', text: 'the first' }])]
    const next = await create({
      model: 'picker',
      input,
      tools: [pick],
      ...(withId ? { previous_response_id: asked.id } : { store: false }),
    })
    expect([next.id, textOf(next)]).toEqual([`${asked.id}_2`, 'You picked it.'])
    if (withId) expect(await get(next.id)).toEqual(next)
  }
})

test('a question is a function that is answered with data or text', async () => {
  const { create, call } = await openResponses({ asks })
  const asked = await create({ model: 'asks', input: 'go' })
  const [question] = asked.output
  expect([question.type, question.name]).toEqual(['function_call', 'request_input'])
  const wrong = await call('POST', '/responses', {
    previous_response_id: asked.id,
    input: [output(question.call_id, '{"town":1}')],
  })
  expect(wrong.status).toBe(400)
  const next = await create({ previous_response_id: asked.id, input: [output(question.call_id, '{"city":"Ghent"}')] })
  expect(textOf(next)).toBe('You said {"city":"Ghent"}')
})

test('an answer that nobody waits for is something that was said', async () => {
  const { create, services } = await openResponses()
  const input = [
    { role: 'user', content: 'pick' },
    { type: 'function_call', call_id: 'call_1', name: 'pick', arguments: '{}' },
    output('call_1', 'the first'),
  ]
  const made = await create({ input })
  expect(made.status).toBe('completed')
  const { messages, given } = await services.runs.get(`run_${made.id.slice(5)}`)
  expect(messages[0]?.parts).toEqual([{ type: 'data', data: { ...input[2] } }])
  expect(given?.history?.map(({ role }) => role)).toEqual(['user', 'assistant'])
})

test('the answer has the format that was asked for', async () => {
  const schema = {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
    additionalProperties: false,
  }
  const where = agent({ model: scriptedModel('{"city":"Ghent"}') })
  const { create, call } = await openResponses({ where })
  const text = { format: { type: 'json_schema', name: 'place', schema, strict: true } }
  const made = await create({ model: 'where', input: 'where?', text })
  expect([JSON.parse(textOf(made)), made.text]).toEqual([{ city: 'Ghent' }, text])
  const refused = await call('POST', '/responses', { model: 'echo', input: 'where?', text })
  expect(refused.status).toBe(400)
})
