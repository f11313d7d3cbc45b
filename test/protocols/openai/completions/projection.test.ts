import { describe, expect, test } from 'vitest'
import { isAppError } from '../../../../src/core/error.ts'
import type { RunEvent, RunEventBody } from '../../../../src/core/event.ts'
import { toWireEvent } from '../../../../src/core/events/sent-event.ts'
import { silentLogger } from '../../../../src/core/logger.ts'
import { type Batch, toFrames } from '../../../../src/protocols/frames.ts'
import { CompletionFold, CompletionProjection } from '../../../../src/protocols/openai/completions/stream.ts'
import { openaiErrorOf } from '../../../../src/protocols/openai/error.ts'
import { completionId } from '../../../../src/protocols/openai/ids.ts'
import { stretchOf } from '../../../../src/protocols/stretch.ts'
import { longRun, recordedRuns, recordRun } from '../../../support/protocols/recorded-runs.ts'
import { quickest } from '../../../support/quickest.ts'
import { type Any, chunksOf } from './support.ts'

const settings = {
  id: 'chatcmpl-1',
  model: 'docs',
  sessionId: 'ses_recorded',
  isNamed: true,
  showTools: false,
} as const

async function* inBatches(events: readonly RunEvent[], size: number): AsyncGenerator<Batch> {
  for (let start = 0; start < events.length; start += size) yield events.slice(start, start + size)
}

type More = Partial<ConstructorParameters<typeof CompletionProjection>[0]>

async function streamed(events: readonly RunEvent[], number: number, size = 1000, more: More = {}): Promise<string> {
  let text = ''
  const projection = new CompletionProjection({ ...settings, includeUsage: true, ...more })
  const stretch = stretchOf(inBatches(events, size), { number })
  for await (const frame of toFrames(projection, stretch, { runId: 'run_1', logger: silentLogger })) text += frame
  return text
}

/** The JSON answer, or the error instead of one. */
async function answered(events: readonly RunEvent[], number: number): Promise<Any> {
  const fold = new CompletionFold(settings)
  const stretch = stretchOf(inBatches(events, 3), { number })
  for await (const batch of { [Symbol.asyncIterator]: () => stretch }) {
    for (const event of batch) fold.add(toWireEvent(event, false))
  }
  try {
    return fold.answer()
  } catch (error) {
    return { error: isAppError(error) ? openaiErrorOf(error) : error }
  }
}

/** What a client makes of chunks. */
function folded(chunks: Any[]): Any {
  const message: Any = { content: '', reasoning_content: '', tool_calls: [] }
  const answer: Any = { message }
  for (const chunk of chunks) {
    if (chunk.error !== undefined) return { error: chunk.error }
    const [choice] = chunk.choices
    if (chunk.agentserve !== undefined) answer.agentserve = chunk.agentserve
    if (choice === undefined) {
      answer.usage = chunk.usage
      continue
    }
    message.content += choice.delta.content ?? ''
    message.reasoning_content += choice.delta.reasoning_content ?? ''
    for (const { index, ...call } of choice.delta.tool_calls ?? []) message.tool_calls[index] = call
    answer.finish_reason = choice.finish_reason ?? answer.finish_reason
  }
  return answer
}

const stretches = recordedRuns.flatMap(({ name, events }) => {
  const count = 1 + events.filter((event) => event.type === 'run_resumed' && event.from === 'input_required').length
  return Array.from({ length: count }, (_, place) => ({
    name: `${name}, stretch ${place + 1}`,
    events,
    number: place + 1,
  }))
})

describe.each(stretches)('a run that is $name', ({ events, number }) => {
  test('gives the same frames however its events come, and ends them once', async () => {
    const whole = await streamed(events, number)
    for (const size of [1, 2, 5]) expect(await streamed(events, number, size)).toBe(whole)
    expect(whole.match(/\[DONE\]/g)).toHaveLength(1)
    expect(whole.endsWith('data: [DONE]\n\n')).toBe(true)
    expect(whole).not.toContain('secret')
    expect(whole).not.toMatch(/^(?:event|id):/m)
  })

  test('has chunks of the shape that clients read', async () => {
    const chunks = chunksOf(await streamed(events, number))
    expect(chunks[0].choices[0].delta).toEqual({ role: 'assistant', content: '' })
    const reasons = chunks.flatMap(({ choices = [] }) => choices.flatMap((one: Any) => one.finish_reason ?? []))
    const errors = chunks.filter(({ error }) => error !== undefined)
    expect(reasons.length + errors.length).toBe(1)
    for (const { error, ...chunk } of chunks) {
      if (error !== undefined) continue
      expect(chunk).toMatchObject({ id: 'chatcmpl-1', object: 'chat.completion.chunk', model: 'docs' })
      expect(Number.isInteger(chunk.created)).toBe(true)
    }
    expect(new Set(chunks.flatMap(({ created }) => created ?? [])).size).toBe(1)
  })

  test('is the same as JSON, also with a comment between all frames', async () => {
    const stream = await streamed(events, number)
    const answer = await answered(events, number)
    for (const text of [stream, stream.replaceAll('\n\n', '\n\n: hb\n\n')]) {
      const client = folded(chunksOf(text))
      if (answer.error !== undefined) {
        expect(client).toEqual({ error: answer.error })
        continue
      }
      const [{ message, finish_reason }] = answer.choices
      expect(client).toEqual({
        message: {
          content: message.content ?? '',
          reasoning_content: message.reasoning_content ?? '',
          tool_calls: message.tool_calls ?? [],
        },
        finish_reason,
        usage: answer.usage,
        agentserve: answer.agentserve,
      })
    }
  })

  test('never looks whole when it is cut', async () => {
    const whole = await streamed(events, number)
    for (let count = 1; count < events.length; count++) {
      const cut = await streamed(events.slice(0, count), number)
      if (cut === whole) continue
      const [last] = chunksOf(cut).slice(-1)
      expect(last.error).toMatchObject({ type: 'server_error', code: 'run_failed' })
      expect(cut.endsWith('data: [DONE]\n\n')).toBe(true)
    }
  })
})

const of = (name: string) => recordedRuns.find((run) => run.name === name)?.events ?? []

test('tools of the server are not told, or as reasoning', async () => {
  const events = of('completed')
  expect(await streamed(events, 1)).not.toContain('weather(')
  expect(await streamed(events, 1)).not.toContain('tool_calls')
  const shown = folded(chunksOf(await streamed(events, 1, 1000, { showTools: { except: new Set() } })))
  expect(shown.message.reasoning_content).toBe('Let me think.weather({"city":"Ghent"})\n')
  const hidden = await streamed(events, 1, 1000, { showTools: { except: new Set(['weather']) } })
  expect(hidden).not.toContain('weather(')
})

test('text, data and files are the content, sources beside it', async () => {
  const { message, agentserve, usage } = folded(chunksOf(await streamed(of('completed'), 1)))
  expect(message.content).toBe(
    'I look it up. It is "9" degrees.\n\u2028 🙂 [1]\n{"degrees":9,"tags":["cold",null]}\n![map.png](<https://example.org/map.png>)\nSee the map.',
  )
  expect(agentserve.sources).toEqual([
    expect.objectContaining({ index: 1, source: 'weather.md', document_id: 'doc_1', cited: true }),
  ])
  expect(agentserve.sources[0]).not.toHaveProperty('seq')
  expect(agentserve.files).toEqual([{ media_type: 'image/png', name: 'map.png', url: 'https://example.org/map.png' }])
  expect(usage).toMatchObject({ prompt_tokens: 6, completion_tokens: 8, total_tokens: 14 })
})

test('an approval is a question, and only a named session is told which words answer it', async () => {
  const ends = async (isNamed: boolean) => folded(chunksOf(await streamed(of('waiting'), 1, 1000, { isNamed })))
  const named = await ends(true)
  expect(named.message.content).toBe(`One moment. \n\nMay I pay? {"amount":5} Reply 'approve' or 'deny'.`)
  expect(named.finish_reason).toBe('stop')
  expect((await ends(false)).message.content).toMatch(/May I pay\? \{"amount":5\} The run is waiting.*POST \/runs\//)
  const form = folded(chunksOf(await streamed(of('waiting for a form'), 1)))
  expect(form.message.content).toMatch(/^Where\? The run is waiting for input/)
})

test('a client tool is a call whose id names its run', async () => {
  const { message, finish_reason } = folded(chunksOf(await streamed(of('waiting for a client tool'), 1)))
  expect(finish_reason).toBe('tool_calls')
  const [{ run_id }] = of('waiting for a client tool') as [RunEvent]
  expect(message.tool_calls).toEqual([
    { id: `call_${run_id.slice(4)}_t3`, type: 'function', function: { name: 'pick', arguments: '{"of":2}' } },
  ])
  expect((await answered(of('waiting for a client tool'), 1)).choices[0].message.content).toBeNull()
})

test('usage is that of the stretch', async () => {
  const usageOf = async (number: number) => folded(chunksOf(await streamed(of('denied'), number))).usage.total_tokens
  expect([await usageOf(1), await usageOf(2)]).toEqual([7, 7])
})

test.each<[RunEventBody, string]>([
  [{ type: 'run_error', error: { code: 'run_limit', message: 'Too many.' } }, 'run_limit'],
  [{ type: 'run_error', error: { code: 'anything', message: 'It broke.' } }, 'run_failed'],
  [{ type: 'run_end', status: 'interrupted', usage: null, cache_hit: false }, 'run_interrupted'],
  [{ type: 'run_end', status: 'cancelled', usage: null, cache_hit: false }, 'run_cancelled'],
  [{ type: 'run_end', status: 'cancelled', usage: null, cache_hit: false, cancellation_reason: 'timeout' }, 'timeout'],
])('an end by %j is the error %s', async (end, code) => {
  const { events } = recordRun('ended', [{ type: 'text_delta', text: 'so far' }, end])
  expect(chunksOf(await streamed(events, 1)).at(-1).error).toMatchObject({ code, param: null })
  expect((await answered(events, 1)).error).toMatchObject({ code })
})

test('the name and address of a file stay within their link', async () => {
  const name = 'a](javascript:x)\n[b'
  const { events } = recordRun('link', [
    { type: 'file', media_type: 'text/html', name, url: 'https://example.org/>\n<x>' },
    { type: 'run_end', status: 'completed', usage: null, cache_hit: false },
  ])
  expect(folded(chunksOf(await streamed(events, 1))).message.content).toBe(
    '[a (javascript:x)  b](<https://example.org/%3E%0A%3Cx%3E>)',
  )
})

test('each stretch has an id of its own', () => {
  expect(completionId('run_a', 2)).not.toBe(completionId('run_a'))
})

test('ten thousand fragments take as long each as a thousand', async () => {
  const timed = (events: readonly RunEvent[]) =>
    quickest(async () => ({ stream: await streamed(events, 1, 100), answer: await answered(events, 1) }))
  const { ms: few } = await timed(longRun(1_000).events)
  const { ms: many, stream, answer } = await timed(longRun(10_000).events)
  expect(chunksOf(stream)).toHaveLength(10_000 + 3)
  expect(answer.choices[0].message.content).toMatch(/^fragment 0 fragment 1 .*fragment 9999 $/)
  // What grows with the square would take a hundred times as long.
  expect(many).toBeLessThan(50 * Math.max(few, 2))
})
