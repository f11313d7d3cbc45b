import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { generateText, jsonSchema, type LanguageModel, Output, stepCountIs, streamText, tool } from 'ai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { command } from '../../../support/program.ts'
import { type JudgedServer, newName, startJudged } from '../judged-server.ts'

/* The AI SDK with its providers of OpenAI, whose models are our agents. */

let judged: JudgedServer

beforeAll(async () => {
  judged = await startJudged({ 'docs/tea.md': '# Green tea\n\nGreen tea is brewed at seventy degrees.\n' })
  expect(await command(judged.project, ['ingest', 'docs'])).toMatchObject({ code: 0 })
})
afterAll(() => judged?.close())

const openai = (headers: Record<string, string> = {}) =>
  createOpenAI({ baseURL: `${judged.url}/v1`, apiKey: 'no-key', headers })

const providers: Record<string, (id: string, headers?: Record<string, string>) => LanguageModel> = {
  'responses of @ai-sdk/openai': (id, headers) => openai(headers).responses(id),
  'chat of @ai-sdk/openai': (id, headers) => openai(headers).chat(id),
  '@ai-sdk/openai-compatible': (id, headers = {}) =>
    createOpenAICompatible({
      name: 'agentserve',
      baseURL: `${judged.url}/v1`,
      headers,
      includeUsage: true,
      supportsStructuredOutputs: true,
    })(id),
}

describe.each(Object.entries(providers))('%s', (name, modelOf) => {
  const isResponses = name.startsWith('responses')

  test('answers at once, and as a stream', async () => {
    const prompt = 'How warm is it?'
    const answer = await generateText({ model: modelOf('forecast'), prompt })
    expect(answer.text).toMatch(/It says .*"celsius":9/)
    expect(answer.finishReason).toBe('stop')
    expect(answer.usage).toMatchObject({ inputTokens: 20, outputTokens: 20 })
    const errors: unknown[] = []
    const stream = streamText({ model: modelOf('forecast'), prompt, onError: ({ error }) => void errors.push(error) })
    let text = ''
    for await (const part of stream.textStream) text += part
    expect(errors).toEqual([])
    expect(text).toBe(answer.text)
    expect(await stream.finishReason).toBe('stop')
    expect(await stream.usage).toMatchObject({ inputTokens: 20, outputTokens: 20 })
    if (!name.startsWith('chat')) expect(await stream.reasoningText).toBe('Hm.')
  })

  test('runs the tools of the client to the end', async () => {
    const picked: unknown[] = []
    const pick = tool({
      inputSchema: z.object({ of: z.array(z.string()) }),
      execute: ({ of }) => {
        picked.push(of)
        return `the ${of[0]} one`
      },
    })
    const call = { tools: { pick }, stopWhen: stepCountIs(4), prompt: 'Which one?' }
    const { text, steps } = await generateText({ model: modelOf('picker'), ...call })
    expect(text).toMatch(/Picked: .*the red one/)
    expect(steps).toHaveLength(2)
    expect(await streamText({ model: modelOf('pair'), ...call }).text).toMatch(/the red one.*the blue one/)
    expect(picked).toEqual([['red', 'green'], ['red'], ['blue']])
  })

  test('gives an object of a schema', async () => {
    const schema = z.object({ city: z.string(), degrees: z.number() })
    const model = modelOf('shaped')
    const { output } = await generateText({ model, prompt: 'How warm?', output: Output.object({ schema }) })
    expect(output).toEqual({ city: 'Ghent', degrees: 9 })
    const plain = jsonSchema<{ city: string }>({ type: 'object', properties: { city: { type: 'string' } } })
    const streamed = streamText({ model, prompt: 'How warm?', output: Output.object({ schema: plain }) })
    expect(await streamed.output).toMatchObject({ city: 'Ghent' })
  })

  test('tells why a run failed', async () => {
    const session = newName('broken')
    const model = modelOf('broken', { 'X-Session-Id': session })
    const providerOptions = { openai: { conversation: session } }
    // By itself the AI SDK repeats every status from 500 on, whatever the answer says of that.
    const failure = generateText({ model, prompt: 'Bake', maxRetries: 0, ...(isResponses && { providerOptions }) })
    await expect(failure).rejects.toThrow('The agent threw an error')
    const errors: string[] = []
    const onError = ({ error }: { error: unknown }) => void errors.push(JSON.stringify(error) + String(error))
    const stream = streamText({ model: modelOf('broken'), prompt: 'Bake', onError })
    await stream.consumeStream()
    expect(errors.join()).toContain('The agent threw an error')
    expect((await judged.own.runs.list({ session_id: session })).runs).toHaveLength(1)
  })

  test('takes files and the conversation', async () => {
    const image = { type: 'file' as const, data: new Uint8Array([137, 80, 78, 71]), mediaType: 'image/png' }
    const { text } = await generateText({
      model: modelOf('recall'),
      instructions: 'Be brief.',
      messages: [
        { role: 'user', content: 'Before' },
        { role: 'assistant', content: 'I see.' },
        { role: 'user', content: [{ type: 'text', text: 'What is it?' }, image] },
      ],
    })
    expect(JSON.parse(text)).toEqual({
      text: 'What is it?',
      files: ['image/png -'],
      before: ['user: Before', 'assistant: I see.'],
      instructions: 'Be brief.',
    })
  })

  test.runIf(isResponses)('reads citations as sources', async () => {
    const { sources } = await generateText({ model: modelOf('library'), prompt: 'How hot is green tea brewed?' })
    expect(sources).toMatchObject([
      { type: 'source', sourceType: 'document', title: expect.stringContaining('tea.md') },
    ])
  })

  test.runIf(isResponses)('goes on from a response, and answers an approval', async () => {
    const first = await generateText({ model: modelOf('recall'), prompt: 'One' })
    const previousResponseId = String(first.providerMetadata?.openai?.responseId)
    const { text } = await generateText({
      model: modelOf('recall'),
      prompt: 'Two',
      providerOptions: { openai: { previousResponseId } },
    })
    expect(JSON.parse(text).before).toHaveLength(2)

    const question = { role: 'user' as const, content: 'Refund me' }
    const asked = await generateText({ model: modelOf('clerk'), messages: [question] })
    const request = asked.content.find((part) => part.type === 'tool-approval-request')
    expect(request).toMatchObject({ toolCall: { input: { euros: 5 } } })
    const answer = await generateText({
      model: modelOf('clerk'),
      messages: [
        question,
        ...asked.response.messages,
        {
          role: 'tool',
          content: [
            {
              type: 'tool-approval-response',
              approvalId: request?.approvalId ?? '',
              approved: true,
              providerExecuted: true,
            },
          ],
        },
      ],
    })
    expect(answer.text).toMatch(/Done: .*"paid":5/)
  })
})
