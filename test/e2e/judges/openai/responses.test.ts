import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  failureOf,
  openOpenAI,
  outputText,
  type ResponseEvent,
  type ResponseObject,
  versions,
} from '../../../judges/openai.ts'
import { command } from '../../../support/program.ts'
import { type JudgedServer, newName, startJudged } from '../judged-server.ts'

/* Responses of the program itself, judged by the published clients. */

let judged: JudgedServer

beforeAll(async () => {
  judged = await startJudged({ 'docs/tea.md': '# Green tea\n\nGreen tea is brewed at seventy degrees.\n' })
  expect(await command(judged.project, ['ingest', 'docs'])).toMatchObject({ code: 0 })
})
afterAll(() => judged?.close())

const pick = {
  type: 'function',
  name: 'pick',
  parameters: { type: 'object', properties: { of: { type: 'array' } } },
  strict: false,
}

describe.each(versions)('responses in openai %i', (version) => {
  let openai: Awaited<ReturnType<typeof openOpenAI>>
  beforeAll(async () => {
    openai = await openOpenAI(version, judged.url)
  })

  const types = ({ output }: ResponseObject) => output.map(({ type }) => type)
  const seenBy = (response: ResponseObject) =>
    JSON.parse(outputText(response)) as { text: string; before: string[]; files: string[]; instructions?: string }

  test('show tools, reasoning and text, at once and streamed and read again', async () => {
    const body = { model: 'forecast', input: 'How warm is it?', metadata: { order: '7' } }
    const answer = await openai.responses.create(body)
    expect(answer).toMatchObject({
      object: 'response',
      status: 'completed',
      model: 'forecast',
      metadata: { order: '7' },
    })
    expect(types(answer)).toEqual(['reasoning', 'message', 'mcp_call', 'message'])
    expect(answer.output[2]).toMatchObject({ name: 'weather', server_label: 'agentserve', status: 'completed' })
    expect(outputText(answer)).toMatch(/^One moment. It says .*"celsius":9/)
    expect(answer.usage).toMatchObject({ input_tokens: 20, output_tokens: 20, total_tokens: 40 })

    const helper = openai.responses.stream(body)
    const events: ResponseEvent[] = []
    for await (const event of helper) events.push(event)
    const streamed = await helper.finalResponse()
    expect(types(streamed)).toEqual(types(answer))
    expect(outputText(streamed)).toBe(outputText(answer))
    expect(streamed.usage).toEqual(answer.usage)
    expect(events.slice(0, 2).map(({ type }) => type)).toEqual(['response.created', 'response.in_progress'])
    expect(events.at(-1)?.type).toBe('response.completed')
    const numbers = events.map(({ sequence_number }) => sequence_number)
    expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b))

    const again = await openai.responses.retrieve(streamed.id)
    expect(again.output).toEqual(events.at(-1)?.response?.output)
    expect(again.conversation).toEqual(streamed.conversation)
  })

  test('cite what was found', async () => {
    const helper = openai.responses.stream({ model: 'library', input: 'How hot is green tea brewed?' })
    const { output } = await helper.finalResponse()
    expect(output[0]).toMatchObject({ type: 'file_search_call', status: 'completed' })
    const text = output.find(({ type }) => type === 'message')?.content as { annotations: object[] }[]
    const annotation = { type: 'file_citation', filename: expect.stringContaining('tea.md') }
    expect(text[0]?.annotations).toContainEqual(expect.objectContaining(annotation))
  })

  test('go on from one another, and branch', async () => {
    const create = (input: string, previous_response_id?: string) =>
      openai.responses.create({ model: 'recall', input, ...(previous_response_id && { previous_response_id }) })
    const root = await create('Root')
    const branches: ResponseObject[] = []
    for (const name of ['One', 'Two', 'Three']) branches.push(await create(name, root.id))
    expect(new Set(branches.map(({ conversation }) => conversation.id)).size).toBe(3)
    for (const [n, branch] of branches.entries()) {
      const [said, answered, ...others] = seenBy(branch).before
      expect([said, others]).toEqual(['user: Root', []])
      expect(answered).toContain('"text":"Root"')
      const next = await create('And then?', branch.id)
      expect(seenBy(next).before.filter((message) => message.startsWith('user'))).toEqual([
        'user: Root',
        `user: ${['One', 'Two', 'Three'][n]}`,
      ])
      expect((await openai.responses.retrieve(branch.id)).output).toEqual(branch.output)
      expect(next.conversation).toEqual(branch.conversation)
    }
    const failure = await failureOf(create('From where?', 'resp_00000000000000000000000000'))
    expect(failure).toMatchObject({ status: 400, code: 'previous_response_not_found' })
  })

  test('go on in a conversation, and keep what is not stored to themselves', async () => {
    const conversation = newName('talk')
    await openai.responses.create({ model: 'recall', input: 'One', conversation })
    const second = await openai.responses.create({ model: 'recall', input: 'Two', conversation: { id: conversation } })
    expect(second.conversation.id).toBe(conversation)
    expect(seenBy(second).before).toHaveLength(2)
    const both = { model: 'recall', input: 'x', conversation, previous_response_id: second.id }
    expect(await failureOf(openai.responses.create(both))).toMatchObject({ status: 400 })
    const unkept = await openai.responses.create({ model: 'recall', input: 'Psst', store: false })
    expect(unkept.store).toBe(false)
    expect(await failureOf(openai.responses.retrieve(unkept.id))).toBeInstanceOf(openai.errors.NotFoundError)
  })

  test('tell why a run failed, which was run once', async () => {
    const conversation = newName('broken')
    const failure = await failureOf(openai.responses.create({ model: 'broken', input: 'Bake', conversation }))
    expect(failure).toBeInstanceOf(openai.errors.InternalServerError)
    expect(failure).toMatchObject({ status: 500, code: 'run_failed' })
    expect(failure.message).toContain('The agent threw an error')
    expect((await judged.own.runs.list({ session_id: conversation })).runs).toHaveLength(1)
    const streamed = await failedStream(openai.responses.stream({ model: 'broken', input: 'Bake' }))
    expect(streamed).toMatchObject({ status: 'failed', output: [{ type: 'message', status: 'incomplete' }] })
  })

  test('list what was put in', async () => {
    const input = [{ role: 'user', content: [{ type: 'input_text', text: 'Hello' }] }]
    const { id } = await openai.responses.create({ model: 'recall', input })
    const items = []
    for await (const item of openai.responses.inputItems.list(id)) items.push(item)
    expect(items).toMatchObject([{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hello' }] }])
  })

  test('call functions of the client', async () => {
    const create = { model: 'picker', tools: [pick], input: 'Which one?' }
    const streamed = await openai.responses.stream(create).finalResponse()
    const asked = await openai.responses.create(create)
    for (const response of [streamed, asked]) {
      expect(response.status).toBe('completed')
      const call = response.output.at(-1)
      expect(call).toMatchObject({ type: 'function_call', name: 'pick', status: 'completed' })
      expect(JSON.parse(String(call?.arguments))).toEqual({ of: ['red', 'green'] })
      const result = { type: 'function_call_output', call_id: call?.call_id, output: 'the green one' }
      const answer = await openai.responses.create({
        model: 'picker',
        tools: [pick],
        previous_response_id: response.id,
        input: [result],
      })
      expect(outputText(answer)).toMatch(/Picked: .*the green one/)
      expect(answer.id).toBe(`${response.id}_2`)
      expect(response.output).toMatchObject((await openai.responses.retrieve(response.id)).output)
      expect((await openai.responses.retrieve(answer.id)).output).toEqual(answer.output)
    }
  })

  test('call functions for a client that keeps its own history', async () => {
    const question = { role: 'user', content: 'Which ones?' }
    const create = { model: 'pair', tools: [pick], store: false }
    const { output } = await openai.responses.create({ ...create, input: [question] })
    const results = output
      .filter(({ type }) => type === 'function_call')
      .map(({ call_id }, n) => ({ type: 'function_call_output', call_id, output: `result ${n}` }))
    expect(results).toHaveLength(2)
    const answer = await openai.responses.create({ ...create, input: [question, ...output, ...results] })
    expect(outputText(answer)).toMatch(/result 0.*result 1/)
  })

  test.each([true, false])('wait for an approval, which is given: %s', async (approve) => {
    const asked = await openai.responses.stream({ model: 'clerk', input: 'Refund me' }).finalResponse()
    expect(asked.status).toBe('completed')
    const request = asked.output.at(-1)
    expect(request).toMatchObject({ type: 'mcp_approval_request', name: 'refund', server_label: 'agentserve' })
    expect(JSON.parse(String(request?.arguments))).toEqual({ euros: 5 })
    const decision = { type: 'mcp_approval_response', approval_request_id: request?.id, approve, reason: 'house rules' }
    const body = { model: 'clerk', previous_response_id: asked.id, input: [decision] }
    const answer = await openai.responses.stream(body).finalResponse()
    expect(outputText(answer)).toMatch(approve ? /Done: .*"paid":5/ : /Done: .*denied.*house rules/)
    expect(answer).toMatchObject({ id: `${asked.id}_2`, status: 'completed', conversation: asked.conversation })
    const twice = await openai.responses.create(body)
    expect(answer).toMatchObject({ id: twice.id, output: twice.output })
    const other = { ...body, input: [{ ...decision, approve: !approve }] }
    expect(await failureOf(openai.responses.create(other))).toMatchObject({ status: 409 })
  })

  test('ask for the fields of a form as a function', async () => {
    const asked = await openai.responses.create({ model: 'asker', input: 'Where to?' })
    const call = asked.output.at(-1)
    expect(call).toMatchObject({ type: 'function_call', name: 'request_input' })
    const output = JSON.stringify({ city: 'Ghent' })
    const answer = await openai.responses.create({
      model: 'asker',
      previous_response_id: asked.id,
      input: [{ type: 'function_call_output', call_id: call?.call_id, output }],
    })
    expect(outputText(answer)).toBe('It is {"city":"Ghent"}.')
  })

  test('give data of a schema', async () => {
    const properties = { city: { type: 'string' }, degrees: { type: 'number' } }
    const schema = { type: 'object', properties, required: ['city', 'degrees'], additionalProperties: false }
    const text = { format: { type: 'json_schema', name: 'weather', strict: true, schema } }
    const body = { model: 'shaped', input: 'How warm is it?', text }
    expect((await openai.responses.parse(body)).output_parsed).toEqual({ city: 'Ghent', degrees: 9 })
    const streamed = await openai.responses.stream(body).finalResponse()
    expect(JSON.parse(outputText(streamed))).toEqual({ city: 'Ghent', degrees: 9 })
  })

  test('take images and files, instructions and history', async () => {
    const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII='
    const content = [
      { type: 'input_text', text: 'What is it?' },
      { type: 'input_image', image_url: `data:image/png;base64,${png}`, detail: 'auto' },
      { type: 'input_file', filename: 'note.pdf', file_data: `data:application/pdf;base64,${btoa('%PDF-1.4')}` },
    ]
    const input = [
      { role: 'user', content: 'Before' },
      { role: 'assistant', content: 'I see.' },
      { role: 'user', content },
    ]
    const body = { model: 'recall', instructions: 'Be brief.', input }
    expect(seenBy(await openai.responses.create(body))).toEqual({
      text: 'What is it?',
      files: ['image/png -', 'application/pdf note.pdf'],
      before: ['user: Before', 'assistant: I see.'],
      instructions: 'Be brief.',
    })
  })

  test.skipIf(version === 4)('conversations are made, read and deleted', async () => {
    const { id } = await openai.conversations.create({})
    const answer = await openai.responses.create({ model: 'recall', input: 'One', conversation: id })
    expect(answer.conversation).toEqual({ id })
    expect(await openai.conversations.retrieve(id)).toMatchObject({ id, object: 'conversation' })
    expect(await openai.conversations.delete(id)).toMatchObject({ id, deleted: true })
    expect(await failureOf(openai.conversations.retrieve(id))).toMatchObject({
      status: 404,
      code: 'conversation_not_found',
    })
  })
})

/** The response with which a stream failed. */
async function failedStream(stream: AsyncIterable<ResponseEvent>): Promise<ResponseObject | undefined> {
  let last: ResponseEvent | undefined
  for await (const event of stream) last = event
  expect(last?.type).toBe('response.failed')
  return last?.response
}
