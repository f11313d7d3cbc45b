import { createOpenAI } from '@ai-sdk/openai'
import { describe, expect, test } from 'vitest'
import type { RunEvent } from '../../../../src/core/event.ts'
import { toWireEvent } from '../../../../src/core/events/sent-event.ts'
import { silentLogger } from '../../../../src/core/logger.ts'
import type { RunRecord } from '../../../../src/core/run.ts'
import { type Batch, toFrames } from '../../../../src/protocols/frames.ts'
import { EarlierCalls } from '../../../../src/protocols/openai/responses/earlier.ts'
import { ResponseRun } from '../../../../src/protocols/openai/responses/run.ts'
import { ResponseStream } from '../../../../src/protocols/openai/responses/stream.ts'
import { stretchOf } from '../../../../src/protocols/stretch.ts'
import { longRun, type RecordedRun, recordedRuns } from '../../../support/protocols/recorded-runs.ts'
import { quickest } from '../../../support/quickest.ts'
import { type Any, eventsOf, ResponseFold } from './fold.ts'

/** As its caller gave them: the tools that it executes. */
const withTools = ({ run, ...rest }: RecordedRun): RecordedRun => ({
  ...rest,
  run: { ...run, given: { client_tools: [{ name: 'pick', parameters: {} }] } },
})
const table = recordedRuns.map(withTools)
const named = (name: string) => table.find((one) => one.name === name) as RecordedRun

async function* inBatches(events: readonly RunEvent[], size: number): AsyncGenerator<Batch> {
  for (let start = 0; start < events.length; start += size) yield events.slice(start, start + size)
}

function read({ run, events }: { run: RunRecord; events: readonly RunEvent[] }, stretch: number, size: number) {
  const earlier = stretch > 1 ? new EarlierCalls() : undefined
  const batches = inBatches(events, size)
  return {
    response: new ResponseRun(run, stretch, earlier),
    events: stretchOf(earlier?.watch(batches) ?? batches, { number: stretch }),
  }
}

async function streamed(recorded: RecordedRun, stretch = 1, size = 1000, after?: number): Promise<string> {
  const { response, events } = read(recorded, stretch, size)
  let text = ''
  const options = { runId: recorded.run.run_id, logger: silentLogger, after }
  for await (const frame of toFrames(new ResponseStream(response), events, options)) text += frame
  return text
}

/** What `GET /responses/{id}` folds. */
async function object(recorded: RecordedRun, stretch = 1): Promise<Any> {
  const { response, events } = read(recorded, stretch, 3)
  for (let next = await events.next(); !next.done; next = await events.next()) {
    for (const event of next.value) response.add(toWireEvent(event, false))
  }
  return JSON.parse(JSON.stringify(response.object()))
}

const stretchesOf = ({ events }: RecordedRun) =>
  1 + events.filter((event) => event.type === 'run_resumed' && event.from === 'input_required').length

const all = table.flatMap((recorded) =>
  Array.from({ length: stretchesOf(recorded) }, (_, place) => ({ recorded, stretch: place + 1, name: recorded.name })),
)

describe.each(all)('response $stretch of a run that is $name', ({ recorded, stretch }) => {
  test('has the same frames however its events come, and ends once', async () => {
    const whole = await streamed(recorded, stretch)
    for (const size of [1, 2, 5]) expect(await streamed(recorded, stretch, size)).toBe(whole)
    expect(whole.match(/\[DONE\]/g)).toHaveLength(1)
    expect(whole.endsWith('data: [DONE]\n\n')).toBe(true)
    expect(whole).not.toContain('secret')
  })

  test('is the object that a strict client puts together from the stream', async () => {
    const fold = ResponseFold.of(eventsOf(await streamed(recorded, stretch)))
    expect(fold.isOver).toBe(true)
    expect(fold.response).toEqual(await object(recorded, stretch))
    expect(fold.response.id).toMatch(stretch === 1 ? /^resp_\w[^_]*$/ : new RegExp(`_${stretch}$`))
  })

  test('goes on after any frame where a reader was cut', async () => {
    const whole = await streamed(recorded, stretch)
    const frames = whole.split(/(?<=\n\n)/)
    for (const [place, { sequence_number }] of eventsOf(whole).entries()) {
      expect(await streamed(recorded, stretch, 2, sequence_number)).toBe(
        frames.slice(place + 1, -1).join('') + (place + 2 < frames.length ? frames.at(-1) : ''),
      )
    }
  })

  test('is taken by the AI SDK', async () => {
    const whole = (await streamed(recorded, stretch)).replaceAll('\n\n', '\n\n: hb\n\n')
    const response = new Response(whole, { headers: { 'content-type': 'text/event-stream' } })
    const openai = createOpenAI({ apiKey: 'none', fetch: async () => response })
    const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'Hello' }] }]
    const fold = ResponseFold.of(eventsOf(whole))
    const asked = openai.responses('docs').doStream({ prompt })
    // It throws what fails before anything was said.
    if (fold.response.output.length === 0 && fold.response.error !== null) {
      await expect(asked).rejects.toThrow(fold.response.error.message)
      return
    }
    const { stream } = await asked
    const parts: Any[] = []
    for await (const part of stream as unknown as AsyncIterable<Any>) parts.push(part)
    const errors = parts.filter(({ type }) => type === 'error')
    expect(errors).toHaveLength(fold.response.status === 'failed' ? 1 : 0)
    const texts = parts.filter(({ type }) => type === 'text-delta').map(({ delta }) => delta)
    expect(texts.join('')).toBe(textOf(fold.response))
  })
})

function textOf({ output }: Any): string {
  return output.flatMap(({ content = [] }: Any) => content.map(({ text }: Any) => text)).join('')
}

test('all fields that Open Responses requires are in each object', async () => {
  expect(Object.keys(await object(named('completed'))).toSorted()).toEqual(
    `background completed_at conversation created_at error frequency_penalty id incomplete_details instructions
    max_output_tokens max_tool_calls metadata model object output parallel_tool_calls presence_penalty previous_response_id
    prompt_cache_key reasoning safety_identifier service_tier status store temperature text tool_choice tools top_logprobs
    top_p truncation usage user`.split(/\s+/),
  )
})

test('says how a run ended', async () => {
  const of = async (name: string) => {
    const { status, error, output } = await object(named(name))
    return { status, error, last: output.at(-1)?.status }
  }
  expect(await of('completed')).toEqual({ status: 'completed', error: null, last: 'completed' })
  expect(await of('failed')).toEqual({
    status: 'failed',
    error: { code: 'server_error', message: 'It broke.' },
    last: 'incomplete',
  })
  expect((await of('interrupted')).status).toBe('failed')
  expect(await of('cancelled')).toEqual({ status: 'cancelled', error: null, last: 'incomplete' })
  const types = eventsOf(await streamed(named('cancelled'))).map(({ type }) => type)
  expect(types.at(-1)).toBe('response.incomplete')
})

test('a pause is a completed response that asks last, and the next one has the answered call', async () => {
  const id = named('denied').run.run_id.slice(4)
  const paused = await object(named('denied'))
  expect(paused).toMatchObject({ status: 'completed', usage: { total_tokens: 7 } })
  expect(paused.output).toMatchObject([
    { type: 'mcp_call', status: 'incomplete', arguments: '{"amount":5}' },
    { type: 'mcp_approval_request', id: `mcpr_${id}_t2`, name: 'pay', arguments: '{"amount":5}' },
  ])
  const next = await object(named('denied'), 2)
  expect(next).toMatchObject({ id: `resp_${id}_2`, previous_response_id: `resp_${id}`, usage: { total_tokens: 7 } })
  expect(next.output[0]).toMatchObject({
    type: 'mcp_call',
    name: 'pay',
    arguments: '{"amount":5}',
    error: 'No.',
    approval_request_id: `mcpr_${id}_t2`,
  })
})

test('a client tool and a question are calls of the caller', async () => {
  const tool = named('waiting for a client tool')
  const id = tool.run.run_id.slice(4)
  expect((await object(tool)).output).toEqual([
    {
      type: 'function_call',
      id: `fc_${id}_t3`,
      call_id: `call_${id}_t3`,
      name: 'pick',
      arguments: '{"of":2}',
      status: 'completed',
    },
  ])
  const [asked] = (await object(named('waiting for a form'))).output
  expect(asked).toMatchObject({ type: 'function_call', name: 'request_input' })
  expect(JSON.parse(asked.arguments)).toEqual({ prompt: 'Where?', schema: { type: 'object', required: ['city'] } })
})

test('what was found is a search, and what is cited is annotated', async () => {
  const { output } = await object(named('answered from what was found'))
  expect(output[0]).toMatchObject({ type: 'file_search_call', queries: ['q'], results: [{ filename: 'docs/a.md' }] })
  expect(output[1].content[0]).toMatchObject({
    text: 'So it is [1].',
    annotations: [
      { type: 'file_citation', file_id: 'd1', filename: 'docs/a.md', index: 9 },
      { type: 'url_citation', url: 'https://example.org/b', start_index: 13, end_index: 13 },
    ],
  })
})

test('a stream that is cut ends as a failure with what there was', async () => {
  const { run, events } = named('completed')
  for (const count of [0, 1, 3, 9]) {
    const fold = ResponseFold.of(eventsOf(await streamed({ name: '', run, events: events.slice(0, count) })))
    expect(fold.response).toMatchObject({ status: 'failed', error: { code: 'server_error' } })
  }
})

test('the stream of a run that waits for its turn begins before it, and is the same later', async () => {
  const { run, events } = named('completed')
  const waited = { name: '', events, run: { ...run, created_at: '2025-12-31T00:00:00.000Z' } }
  const whole = await streamed(waited)
  expect(eventsOf(whole).map(({ type }) => type)).toEqual(
    expect.arrayContaining(['response.created', 'response.queued', 'response.in_progress']),
  )
  const { response, events: later } = read(waited, 1, 1)
  const stream = new ResponseStream(response)
  let live = ''
  const options = { runId: run.run_id, logger: silentLogger, opening: stream.queued() }
  for await (const frame of toFrames(stream, later, options)) live += frame
  expect(live).toBe(whole)
})

test('ten thousand fragments take as long each as a thousand', async () => {
  const timed = (recorded: RecordedRun) =>
    quickest(async () => {
      const stream = await streamed(recorded, 1, 100)
      await object(recorded)
      return { stream }
    })
  const { ms: few } = await timed(longRun(1_000))
  const { ms: many, stream } = await timed(longRun(10_000))
  expect(eventsOf(stream)).toHaveLength(10_000 + 8)
  // What grows with the square would take a hundred times as long.
  expect(many).toBeLessThan(50 * Math.max(few, 2))
})
