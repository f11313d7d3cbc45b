import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Chunk, failureOf, type OpenAI, openOpenAI, textOf, versions } from '../../../judges/openai.ts'
import { command } from '../../../support/program.ts'
import { type JudgedServer, newName, startJudged } from '../judged-server.ts'

/* Chat completions of the program itself, judged by the published clients. */

let judged: JudgedServer

beforeAll(async () => {
  judged = await startJudged({ 'docs/tea.md': '# Green tea\n\nGreen tea is brewed at seventy degrees.\n' })
  expect(await command(judged.project, ['ingest', 'docs'])).toMatchObject({ code: 0 })
})
afterAll(() => judged?.close())

const user = (content: unknown) => [{ role: 'user', content }]
const pick = {
  type: 'function',
  function: { name: 'pick', parameters: { type: 'object', properties: { of: { type: 'array' } } } },
}

describe.each(versions)('chat completions in openai %i', (version) => {
  let openai: Awaited<ReturnType<typeof openOpenAI>>
  beforeAll(async () => {
    openai = await openOpenAI(version, judged.url)
  })

  const parts = async (stream: AsyncIterable<Chunk>) => {
    const chunks: Chunk[] = []
    for await (const chunk of stream) chunks.push(chunk)
    return chunks
  }

  test('agents and workflows are models', async () => {
    const models = []
    for await (const model of openai.models.list()) models.push(model)
    expect(models.map(({ id }) => id)).toEqual(expect.arrayContaining(['forecast', 'letter', 'slow']))
    expect(await openai.models.retrieve('letter')).toMatchObject({ id: 'letter', object: 'model' })
    const failure = await failureOf(openai.models.retrieve('nobody'))
    expect(failure).toBeInstanceOf(openai.errors.NotFoundError)
    expect(failure).toMatchObject({ status: 404, code: 'model_not_found', param: 'model' })
  })

  test('answers at once, with what it used', async () => {
    const body = { model: 'forecast', messages: user('How warm is it?') }
    const { data, response } = await openai.completions.create(body).withResponse()
    expect(data).toMatchObject({ object: 'chat.completion', model: 'forecast' })
    expect(data.choices).toHaveLength(1)
    const [choice] = data.choices
    expect(choice).toMatchObject({ finish_reason: 'stop', message: { role: 'assistant', refusal: null } })
    expect(choice?.message.tool_calls).toBeUndefined()
    expect(textOf(data)).toMatch(/^One moment. It says .*"celsius":9/)
    expect(data.usage).toMatchObject({ prompt_tokens: 20, completion_tokens: 20, total_tokens: 40 })
    expect(data.agentserve?.run_id).toBe(response.headers.get('x-run-id'))
    expect(data.agentserve?.session_id).toBe(response.headers.get('x-session-id'))
  })

  test('streams the same, and what it used when asked for it', async () => {
    const body = { model: 'forecast', messages: user('How warm is it?') }
    const plain = await parts(await openai.completions.create({ ...body, stream: true }))
    const text = plain.map(({ choices }) => choices[0]?.delta.content ?? '').join('')
    expect(text).toMatch(/^One moment. It says .*"celsius":9/)
    expect(plain.map(({ choices }) => choices[0]?.delta.reasoning_content ?? '').join('')).toBe('Hm.')
    expect(plain.flatMap(({ choices }) => choices[0]?.finish_reason ?? [])).toEqual(['stop'])
    expect(plain.filter(({ usage }) => usage)).toEqual([])
    expect(new Set(plain.map(({ id }) => id)).size).toBe(1)

    const stream_options = { include_usage: true }
    const [last, ...others] = (
      await parts(await openai.completions.create({ ...body, stream_options, stream: true }))
    ).reverse()
    expect(last).toMatchObject({ choices: [], usage: { prompt_tokens: 20, completion_tokens: 20, total_tokens: 40 } })
    expect(others.filter(({ usage }) => usage)).toEqual([])

    const helper = openai.completions.stream({ ...body, stream_options })
    const final = await helper.finalChatCompletion()
    expect(textOf(final)).toBe(text)
    expect(final).toMatchObject({ choices: [{ finish_reason: 'stop' }], usage: { total_tokens: 40 } })
  })

  test('names its sources', async () => {
    const messages = user('How hot is green tea brewed?')
    const answer = await openai.completions.create({ model: 'library', messages })
    expect(textOf(answer)).toContain('seventy degrees')
    const source = expect.objectContaining({ source: expect.stringContaining('docs/tea.md') })
    expect(answer.agentserve?.sources).toContainEqual(source)
    const chunks = await parts(await openai.completions.create({ model: 'library', messages, stream: true }))
    expect(chunks.flatMap(({ agentserve }) => agentserve?.sources ?? [])).toEqual(answer.agentserve?.sources)
  })

  test('a tool of the client is called, also as a stream, and its result answered', async () => {
    const body = { model: 'picker', tools: [pick] }
    const messages = user('Which one?')
    const streamed = await openai.completions.stream({ ...body, messages }).finalChatCompletion()
    const asked = await openai.completions.create({ ...body, messages })
    for (const { choices } of [streamed, asked]) {
      const [choice] = choices
      expect(choice).toMatchObject({ finish_reason: 'tool_calls', message: { role: 'assistant' } })
      const [call, ...others] = choice?.message.tool_calls ?? []
      expect(others).toEqual([])
      expect(call).toMatchObject({ type: 'function', function: { name: 'pick' } })
      expect(JSON.parse(call?.function.arguments ?? '')).toEqual({ of: ['red', 'green'] })
      const result = { role: 'tool', tool_call_id: call?.id, content: 'the green one' }
      const answer = await openai.completions.create({ ...body, messages: [...messages, choice?.message, result] })
      expect(textOf(answer)).toMatch(/Picked: .*the green one/)
      expect(answer.choices[0]?.finish_reason).toBe('stop')
    }
  })

  test('two calls at once are answered together', async () => {
    const body = { model: 'pair', tools: [pick] }
    const messages = user('Which ones?')
    const { choices } = await openai.completions.stream({ ...body, messages }).finalChatCompletion()
    const message = choices[0]?.message
    const calls = message?.tool_calls ?? []
    expect(calls.map((call) => JSON.parse(call.function.arguments))).toEqual([{ of: ['red'] }, { of: ['blue'] }])
    const results = calls.map(({ id }, n) => ({ role: 'tool', tool_call_id: id, content: `result ${n}` }))
    const one = openai.completions.create({ ...body, messages: [...messages, message, results[0]] })
    const failure = await failureOf(one)
    expect(failure).toBeInstanceOf(openai.errors.BadRequestError)
    expect(failure.message).toContain(calls[1]?.id)
    const both = await openai.completions.create({ ...body, messages: [...messages, message, ...results] })
    expect(textOf(both)).toMatch(/result 0.*result 1/)
  })

  test('its own loop of tools comes to the end', async () => {
    const picked: unknown[] = []
    const parameters = pick.function.parameters
    const run = (input: unknown) => {
      picked.push(input)
      return 'the red one'
    }
    const tools = [{ type: 'function', function: { name: 'pick', function: run, parse: JSON.parse, parameters } }]
    for (const stream of [false, true]) {
      const runner = openai.completions.runTools({ model: 'picker', messages: user('Which one?'), tools, stream })
      expect(await runner.finalContent()).toMatch(/Picked: .*the red one/)
    }
    expect(picked).toEqual([{ of: ['red', 'green'] }, { of: ['red', 'green'] }])
  })

  test('gives data of a schema', async () => {
    const properties = { city: { type: 'string' }, degrees: { type: 'number' } }
    const schema = { type: 'object', properties, required: ['city', 'degrees'], additionalProperties: false }
    const response_format = { type: 'json_schema', json_schema: { name: 'weather', strict: true, schema } }
    const body = { model: 'shaped', messages: user('How warm is it?'), response_format }
    const parsed = await openai.completions.parse(body)
    expect(parsed.choices[0]?.message.parsed).toEqual({ city: 'Ghent', degrees: 9 })
    const streamed = await openai.completions.stream(body).finalChatCompletion()
    expect(JSON.parse(textOf(streamed))).toEqual({ city: 'Ghent', degrees: 9 })
    const object = { ...body, response_format: { type: 'json_object' } }
    expect(JSON.parse(textOf(await openai.completions.create(object)))).toEqual({ city: 'Ghent', degrees: 9 })
  })

  test('takes images and files, and instructions', async () => {
    const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII='
    const content = [
      { type: 'text', text: 'What is it?' },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } },
      { type: 'file', file: { filename: 'note.pdf', file_data: `data:application/pdf;base64,${btoa('%PDF-1.4')}` } },
    ]
    const messages = [{ role: 'system', content: 'Be brief.' }, ...user(content)]
    const seen = JSON.parse(textOf(await openai.completions.create({ model: 'recall', messages })))
    expect(seen).toEqual({
      text: 'What is it?',
      files: ['image/png -', 'application/pdf note.pdf'],
      before: [],
      instructions: 'Be brief.',
    })
    const unknown = openai.completions.create({ model: 'recall', messages: user([{ type: 'mystery' }]) })
    const failure = await failureOf(unknown)
    expect(failure).toMatchObject({ status: 400, param: expect.stringContaining('messages[0].content[0]') })
  })

  const seenBy = async (body: object, headers: Record<string, string> = {}, client: OpenAI = openai) =>
    JSON.parse(textOf(await client.completions.create({ model: 'recall', ...body }, { headers }))) as {
      text: string
      before: string[]
    }

  test.each(['the header', 'metadata'])('goes on with a session named by %s', async (by) => {
    const session = newName('chat')
    const named = by === 'metadata' ? { metadata: { session_id: session } } : {}
    const headers: Record<string, string> = by === 'metadata' ? {} : { 'X-Session-Id': session }
    const first = await seenBy({ ...named, messages: user('One') }, headers)
    expect(first).toMatchObject({ text: 'One', before: [] })
    const trimmed = [...user('One'), { role: 'assistant', content: 'I see.' }, ...user('Two')]
    const second = await seenBy({ ...named, messages: trimmed }, headers)
    expect(second).toMatchObject({ text: 'Two', before: ['user: One', expect.stringContaining('"text":"One"')] })
    expect((await judged.own.runs.list({ session_id: session })).runs).toHaveLength(2)
  })

  test('takes the history of a client that names no session', async () => {
    const messages = [...user('One'), { role: 'assistant', content: 'I see.' }, ...user('Two')]
    expect(await seenBy({ messages })).toMatchObject({ text: 'Two', before: ['user: One', 'assistant: I see.'] })
  })
})
