import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { failureOf, openOpenAI, textOf, versions } from '../../../judges/openai.ts'
import { openCuttingProxy } from '../../../support/client/cutting-proxy.ts'
import { type JudgedServer, newName, startJudged } from '../judged-server.ts'

/* What fails, is cut and is left: how often an agent runs then. */

let judged: JudgedServer

beforeAll(async () => {
  judged = await startJudged()
})
afterAll(() => judged?.close())

const runsOf = async (session_id: string) => (await judged.own.runs.list({ session_id })).runs
const body = (model: string, text: string) => ({ model, messages: [{ role: 'user', content: text }] })
const named = (session: string) => ({ headers: { 'X-Session-Id': session } })

async function open(version: (typeof versions)[number], url = judged.url) {
  let requests = 0
  const counted: typeof fetch = (...given) => {
    requests++
    return fetch(...given)
  }
  const openai = await openOpenAI(version, url, { fetch: counted })
  return { ...openai, requests: () => requests }
}

describe.each(versions)('openai %i', (version) => {
  test('asks a failing agent once', async () => {
    const { completions, errors, requests } = await open(version)
    const session = newName('broken')
    const failure = await failureOf(completions.create(body('broken', 'Bake'), named(session)))
    expect(failure).toBeInstanceOf(errors.InternalServerError)
    expect(failure).toMatchObject({ status: 500, code: 'run_failed', type: 'server_error' })
    expect(failure.message).toContain('The agent threw an error')
    expect(await runsOf(session)).toHaveLength(1)
    expect(requests()).toBe(1)
  })

  test('reads a failure after the first words', async () => {
    const { completions, errors, requests } = await open(version)
    let text = ''
    const read = async () => {
      for await (const { choices } of await completions.create({ ...body('broken', 'Bake'), stream: true })) {
        text += choices[0]?.delta.content ?? ''
      }
    }
    const failure = await failureOf(read())
    expect(failure).toBeInstanceOf(errors.APIError)
    expect(failure).toMatchObject({ code: 'run_failed' })
    expect(failure.message).toContain('The agent threw an error')
    expect(text).toBe('Half ')
    const helped = await failureOf(completions.stream(body('broken', 'Bake')).finalChatCompletion())
    expect(helped.message).toContain('The agent threw an error')
    expect(requests()).toBe(2)
  })

  test.each([
    ['an unknown model', 'nobody', {}, { status: 404, code: 'model_not_found', param: 'model' }],
    ['no messages', 'recall', { messages: [] }, { status: 400, param: 'messages' }],
    ['two choices', 'recall', { n: 2 }, { status: 400, code: 'unsupported_parameter', param: 'n' }],
    [
      'an unknown role',
      'recall',
      { messages: [{ role: 'wizard', content: 'x' }] },
      { status: 400, param: 'messages[0].role' },
    ],
  ])('reads the refusal of %s', async (_, model, more, expected) => {
    const { completions, errors, requests } = await open(version)
    const failure = await failureOf(completions.create({ ...body(model, 'Hello'), ...more }))
    expect(failure).toBeInstanceOf(expected.status === 404 ? errors.NotFoundError : errors.BadRequestError)
    expect(failure).toMatchObject({ type: 'invalid_request_error', ...expected })
    expect(requests()).toBe(1)
  })

  test('that leaves has its run cancelled, after a moment', async () => {
    const { completions, errors } = await open(version)
    const [streaming, waiting] = [newName('left'), newName('left')]
    const leave = new AbortController()
    const waits = failureOf(completions.create(body('slow', waiting), { ...named(waiting), signal: leave.signal }))
    await expect.poll(() => runsOf(waiting)).toMatchObject([{ status: 'running' }])
    const stream = await completions.create({ ...body('slow', streaming), stream: true }, named(streaming))
    for await (const { choices } of stream) if (choices[0]?.delta.content) break
    leave.abort()
    expect(await waits).toBeInstanceOf(errors.APIUserAbortError)
    for (const session of [streaming, waiting]) {
      await expect.poll(() => runsOf(session)).toMatchObject([{ status: 'cancelled' }])
    }
  })

  test.each(['stream', 'answer'])('that is cut before its %s joins the run with its retry', async (kind) => {
    const proxy = await openCuttingProxy(judged.url)
    onTestFinished(() => proxy.close())
    const { completions, requests } = await open(version, proxy.url)
    const session = newName('cut')
    const asked = body('slow', session)
    proxy.cutAfter(0)
    let text = ''
    if (kind === 'stream') {
      for await (const { choices } of await completions.create({ ...asked, stream: true }, named(session))) {
        text += choices[0]?.delta.content ?? ''
        await judged.go(`${session}-1`)
        await judged.go(`${session}-2`)
      }
    } else {
      const answer = completions.create(asked, named(session))
      await judged.go(`${session}-1`)
      await judged.go(`${session}-2`)
      text = textOf(await answer)
    }
    expect(text).toBe('One two three.')
    expect(proxy.hasCut).toBe(true)
    expect(requests()).toBe(2)
    expect(await runsOf(session)).toHaveLength(1)
  })
})
