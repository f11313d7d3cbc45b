import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { toWireEvent } from '../../../../src/core/events/sent-event.ts'
import { silentLogger } from '../../../../src/core/logger.ts'
import { type Batch, toFrames } from '../../../../src/protocols/frames.ts'
import { CompletionFold, CompletionProjection } from '../../../../src/protocols/openai/completions/stream.ts'
import { EarlierCalls } from '../../../../src/protocols/openai/responses/earlier.ts'
import { type ResponseObject, ResponseRun } from '../../../../src/protocols/openai/responses/run.ts'
import { ResponseStream } from '../../../../src/protocols/openai/responses/stream.ts'
import { stretchOf } from '../../../../src/protocols/stretch.ts'
import { type Completion, failureOf, openOpenAI, type ResponseEvent, versions } from '../../../judges/openai.ts'
import { type RecordedRun, recordedRuns } from '../../../support/protocols/recorded-runs.ts'

/* Each recorded run, as each version of the client puts it together from the stream. */

const stretches = recordedRuns.flatMap(({ name, run, events }) => {
  const count = 1 + events.filter((event) => event.type === 'run_resumed' && event.from === 'input_required').length
  const given = { ...run.given, client_tools: [{ name: 'pick', parameters: {} }] }
  return Array.from({ length: count }, (_, place) => ({ name, run: { ...run, given }, events, stretch: place + 1 }))
})
type Stretch = (typeof stretches)[number]

/** The stream, and the object that the server would answer with at its end. */
async function responseOf({ run, events, stretch }: Stretch): Promise<{ stream: string; whole: ResponseObject }> {
  const earlier = stretch > 1 ? new EarlierCalls() : undefined
  const response = new ResponseRun(run, stretch, earlier)
  const batches = inBatches(events)
  const its = stretchOf(earlier?.watch(batches) ?? batches, { number: stretch })
  const frames = toFrames(new ResponseStream(response), its, {
    runId: run.run_id,
    logger: silentLogger,
  })
  let stream = ''
  for await (const frame of frames) stream += frame
  return { stream, whole: JSON.parse(JSON.stringify(response.object())) }
}

async function* inBatches(events: RecordedRun['events']): AsyncGenerator<Batch> {
  for (let start = 0; start < events.length; start += 3) yield events.slice(start, start + 3)
}

const answering = (stream: string) =>
  (async () => new Response(stream, { headers: { 'content-type': 'text/event-stream' } })) as unknown as typeof fetch

/** Nothing that only an SDK adds. */
const plain = ({
  output_text: _text,
  output_parsed: _parsed,
  ...response
}: object & { output_text?: unknown; output_parsed?: unknown }) =>
  JSON.parse(JSON.stringify(response), (key, value) =>
    key === 'parsed' || key === 'parsed_arguments' ? undefined : value,
  )

describe.each(versions)('openai %i', (version) => {
  test.each(stretches)('puts response $stretch of a run that is $name together', async (recorded) => {
    const { stream, whole } = await responseOf(recorded)
    const openai = await openOpenAI(version, 'http://127.0.0.1', { fetch: answering(stream) })
    const helper = openai.responses.stream({ model: 'docs', input: 'Hello' })
    const events: ResponseEvent[] = []
    for await (const event of helper) events.push(event)
    const last = events.at(-1)
    const ends = { completed: 'completed', failed: 'failed', cancelled: 'incomplete' } as Record<string, string>
    expect(last?.type).toBe(`response.${ends[whole.status]}`)
    expect(plain(last?.response ?? {})).toEqual(whole)
    const final = await helper.finalResponse()
    // 4 takes no whole response from the end of what failed.
    if (version > 4 || whole.status === 'completed') expect(plain(final)).toEqual(whole)
  })
})

const chunked = { id: 'chatcmpl-1', model: 'docs', sessionId: 'ses_1', isNamed: true, showTools: false } as const

/** The stream of a chat completion, and the answer at once, or why there is none. */
async function completionOf({ run, events, stretch }: Stretch) {
  const projection = new CompletionProjection({ ...chunked, includeUsage: true })
  const its = () => stretchOf(inBatches(events), { number: stretch })
  let stream = ''
  for await (const frame of toFrames(projection, its(), { runId: run.run_id, logger: silentLogger })) stream += frame
  const fold = new CompletionFold(chunked)
  for await (const batch of { [Symbol.asyncIterator]: its }) {
    for (const event of batch) fold.add(toWireEvent(event, false))
  }
  try {
    return { stream, answer: fold.answer() as unknown as Completion }
  } catch (error) {
    return { stream, error: error as Error }
  }
}

describe.each(versions)('openai %i', (version) => {
  test.each(stretches)('puts completion $stretch of a run that is $name together', async (recorded) => {
    const { stream, answer, error } = await completionOf(recorded)
    const openai = await openOpenAI(version, 'http://127.0.0.1', { fetch: answering(stream) })
    const messages = [{ role: 'user', content: 'Hello' }]
    const helper = openai.completions.stream({ model: 'docs', messages })
    if (answer === undefined) {
      const failure = await failureOf(helper.finalChatCompletion())
      expect(failure).toBeInstanceOf(openai.errors.APIError)
      return expect(failure.message).toContain(error?.message)
    }
    const { choices, usage, id } = plain(await helper.finalChatCompletion())
    const [{ message, finish_reason }] = choices
    const [whole] = answer.choices
    expect({ id, usage, finish_reason }).toEqual({
      id: answer.id,
      usage: answer.usage,
      finish_reason: whole?.finish_reason,
    })
    expect(message.content ?? '').toBe(whole?.message.content ?? '')
    expect(message.tool_calls ?? []).toEqual(whole?.message.tool_calls ?? [])
  })
})

const text = z.string()
const count = z.int()
const list = z.array(z.looseObject({ type: text }))

/** The fields that `ResponseResource` of Open Responses requires, all 32. The schema is in its repository and in no package. */
const required = {
  id: text,
  object: z.literal('response'),
  created_at: count,
  completed_at: count.nullable(),
  status: z.enum(['queued', 'in_progress', 'completed', 'failed', 'cancelled', 'incomplete']),
  incomplete_details: z.object({ reason: text }).nullable(),
  model: text,
  previous_response_id: text.nullable(),
  instructions: text.nullable(),
  output: z.array(z.looseObject({ type: text, id: text })),
  error: z.object({ code: text, message: text }).nullable(),
  tools: list,
  tool_choice: z.union([text, z.looseObject({ type: text })]),
  truncation: z.enum(['auto', 'disabled']),
  parallel_tool_calls: z.boolean(),
  text: z.looseObject({ format: z.looseObject({ type: text }) }),
  top_p: z.number(),
  presence_penalty: z.number(),
  frequency_penalty: z.number(),
  top_logprobs: count,
  temperature: z.number(),
  reasoning: z.looseObject({}).nullable(),
  user: text.nullable(),
  usage: z
    .looseObject({
      input_tokens: count,
      input_tokens_details: z.looseObject({ cached_tokens: count }),
      output_tokens: count,
      output_tokens_details: z.looseObject({ reasoning_tokens: count }),
      total_tokens: count,
    })
    .nullable(),
  max_output_tokens: count.nullable(),
  max_tool_calls: count.nullable(),
  store: z.boolean(),
  background: z.boolean(),
  service_tier: text,
  metadata: z.record(text, text),
  safety_identifier: text.nullable(),
  prompt_cache_key: text.nullable(),
}

test.each(stretches)(
  'response $stretch of a run that is $name has all that Open Responses requires',
  async (recorded) => {
    const { stream, whole } = await responseOf(recorded)
    const sent = stream.split('\n').flatMap((line) => (line.startsWith('data: {') ? [JSON.parse(line.slice(6))] : []))
    const responses = [...sent.flatMap(({ response }) => response ?? []), whole]
    expect(Object.keys(required)).toHaveLength(32)
    for (const response of responses) z.looseObject(required).parse(response)
    expect(sent.map(({ type }) => type).filter((type) => !eventTypes.has(type))).toEqual([])
  },
)

/** What all three versions take; any other type would be an error in two of them. */
const eventTypes = new Set(
  [
    ...['created', 'queued', 'in_progress', 'completed', 'failed', 'incomplete'],
    ...['output_item.added', 'output_item.done', 'content_part.added', 'content_part.done'],
    ...['output_text.delta', 'output_text.annotation.added', 'output_text.done'],
    ...['reasoning_summary_part.added', 'reasoning_summary_part.done'],
    ...['reasoning_summary_text.delta', 'reasoning_summary_text.done'],
    ...['file_search_call.in_progress', 'file_search_call.searching', 'file_search_call.completed'],
    ...['mcp_call.in_progress', 'mcp_call.completed', 'mcp_call.failed'],
    ...['mcp_call_arguments.delta', 'mcp_call_arguments.done'],
    ...['function_call_arguments.delta', 'function_call_arguments.done'],
    ...['image_generation_call.in_progress', 'image_generation_call.generating', 'image_generation_call.completed'],
  ].map((type) => `response.${type}`),
)
