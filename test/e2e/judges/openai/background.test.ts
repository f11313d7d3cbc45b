import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openOpenAI, outputText, type ResponseEvent, versions } from '../../../judges/openai.ts'
import { type JudgedServer, newName, startJudged } from '../judged-server.ts'

/* Responses whose work outlives the connection. */

let judged: JudgedServer

beforeAll(async () => {
  judged = await startJudged()
})
afterAll(() => judged?.close())

describe.each(versions)('background responses in openai %i', (version) => {
  let openai: Awaited<ReturnType<typeof openOpenAI>>
  beforeAll(async () => {
    openai = await openOpenAI(version, judged.url)
  })
  const go = async (name: string) => {
    await judged.go(`${name}-1`)
    await judged.go(`${name}-2`)
  }

  test('are polled to their end', async () => {
    const input = newName('poll')
    const started = await openai.responses.create({ model: 'slow', input, background: true })
    expect(['queued', 'in_progress']).toContain(started.status)
    expect(started).toMatchObject({ background: true, output: [] })
    await expect
      .poll(() => openai.responses.retrieve(started.id))
      .toMatchObject({
        status: 'in_progress',
        output: [{ type: 'message', status: 'in_progress', content: [{ text: 'One ' }] }],
      })
    await go(input)
    await expect
      .poll(() => openai.responses.retrieve(started.id))
      .toMatchObject({
        status: 'completed',
        output: [{ type: 'message', status: 'completed', content: [{ text: 'One two three.' }] }],
      })
  })

  test('are cancelled, also twice', async () => {
    const { id } = await openai.responses.create({ model: 'slow', input: newName('stop'), background: true })
    const cancelled = await openai.responses.cancel(id)
    expect(cancelled.status).toBe('cancelled')
    expect(await openai.responses.cancel(id)).toMatchObject({ id, status: 'cancelled' })
    expect(await openai.responses.retrieve(id)).toMatchObject({ id, status: 'cancelled' })
    const { events } = await read(await openai.responses.retrieve(id, { stream: true }))
    expect(events.at(-1)).toMatchObject({ type: 'response.incomplete', response: { status: 'cancelled' } })
  })

  test('are streamed on from where the client left', async () => {
    const input = newName('leave')
    const stream = await openai.responses.create({ model: 'slow', input, background: true, stream: true })
    const first = await read(stream, ({ type }) => type === 'response.output_text.delta')
    const id = first.events[0]?.response?.id ?? ''
    const starting_after = first.events.at(-1)?.sequence_number ?? 0
    const tail = openai.responses.retrieve(id, { stream: true, starting_after })
    await go(input)
    const second = await read(await tail)
    expect(first.text + second.text).toBe('One two three.')
    expect(second.events[0]?.sequence_number).toBeGreaterThan(starting_after)
    expect(second.events.at(-1)).toMatchObject({ type: 'response.completed' })

    const whole = await read(await openai.responses.retrieve(id, { stream: true }))
    expect(whole.events).toEqual([...first.events, ...second.events])
    const helper = openai.responses.stream({ response_id: id, starting_after })
    const helped = await read(helper)
    expect(helped.events.map(({ type }) => type)).toEqual(second.events.map(({ type }) => type))
    expect(outputText(await helper.finalResponse())).toBe('One two three.')
  })

  test('end with the client when they are not in the background', async () => {
    const conversation = newName('left')
    const stream = await openai.responses.create({ model: 'slow', input: conversation, conversation, stream: true })
    await read(stream, ({ type }) => type === 'response.output_text.delta')
    const runs = async () => (await judged.own.runs.list({ session_id: conversation })).runs
    await expect.poll(runs).toMatchObject([{ status: 'cancelled' }])
  })
})

/** Its events up to the first that is `last`, with which the client leaves. */
async function read(stream: AsyncIterable<ResponseEvent>, last: (event: ResponseEvent) => boolean = () => false) {
  const events: ResponseEvent[] = []
  let text = ''
  for await (const event of stream) {
    events.push(event)
    if (event.type === 'response.output_text.delta') text += event.delta
    if (last(event)) break
  }
  return { events, text }
}
