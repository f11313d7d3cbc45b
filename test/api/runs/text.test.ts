import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { team } from '../../../src/runnables/team/team.ts'
import { workflow } from '../../../src/runnables/workflow/workflow.ts'
import { scriptedModel } from '../../../src/testing/scripted-model.ts'
import { type RunningTestServer, startServer } from '../../support/server.ts'
import { runnable } from '../../support/services.ts'

const operator = 'the-key-of-the-operator'
const runner = 'the-key-that-only-runs'
const secret = 'instructions that few see'

let server: RunningTestServer
let holding: PromiseWithResolvers<void>
beforeAll(async () => {
  holding = Promise.withResolvers()
  const model = scriptedModel(({ text }) => `It is: ${text}`)
  const says = agent({ model, instructions: secret })
  server = await startServer(
    { auth: { keys: [operator, { key: runner, scopes: ['run'] }] } },
    {
      says,
      cached: agent({ model, cache: { ttl: '10m' } }),
      both: team({ mode: 'parallel', members: [says] }),
      flow: workflow({ name: 'flow', run: async ({ step }) => step('add', async () => ({ sum: 3 })) }),
      asks: runnable(async function* (_input, { resumed }) {
        if (resumed === undefined) yield { type: 'input_required', prompt: 'Which *day*?' }
        else yield 'Thanks.'
      }),
      fails: runnable(async function* () {
        yield 'half'
        throw new Error('broken')
      }),
      holds: runnable(async function* () {
        yield 'so far'
        await holding.promise
      }),
      own: runnable(async function* () {
        yield { type: 'model_call_start', call_id: 'c1', model: 'mine', messages: 'a prompt of its own' }
        yield { type: 'model_call_end', call_id: 'c1', usage: null, finish_reason: 'stop', duration_ms: 1 }
        yield { type: 'model_call_start', call_id: 'c2', model: 'mine' }
        yield 'Yes.'
      }),
    },
  )
})
afterAll(async () => {
  holding.resolve()
  await server.close()
})

const call = (method: string, path: string, body?: unknown, headers = {}, key = operator) =>
  server.call(method, `/api/v1${path}`, body, { authorization: `Bearer ${key}`, ...headers })

async function ask(agentId: string, body: object = {}) {
  const { json } = await call('POST', `/agents/${agentId}/run`, { input: 'hello', ...body })
  return json as { run_id: string; session_id: string }
}

const read = async (runId: string, as: string, headers = {}, key = operator) =>
  (await call('GET', `/runs/${runId}/text?as=${as}`, undefined, headers, key)).text

describe('a run as Markdown', () => {
  test('is the text alone, with prompts for a key that may see them, and a link to the studio', async () => {
    const { run_id: id, session_id: session } = await ask('says')
    const { status, headers, text } = await call('GET', `/runs/${id}/text`)
    expect([status, headers.get('content-type')]).toEqual([200, 'text/markdown; charset=utf-8'])
    expect(text).toContain(`# Run of the agent says: completed\n\n- run: ${id}, session: ${session}\n`)
    expect(text).toContain(`- link: ${server.url}/studio/s/${session}/r/${id}\n`)
    expect(text).toContain(`#### Prompt of call 1\n\nsystem:\n\n\`\`\`\n${secret}\n\`\`\``)
    expect(text).toContain('## Answer\n\n```\nIt is: hello\n```')
    expect(text).not.toContain('left out')
    expect(text).not.toContain(operator)
    expect(await read(id, 'markdown')).toBe(text)
  })

  test('says that prompts are left out for a key that may not see them', async () => {
    const { run_id: id } = await ask('says')
    const text = await read(id, 'markdown', {}, runner)
    expect(text).toContain('- prompts: left out, they need the scope `prompts`')
    expect(text).toContain('### 1. call 1 of 1')
    expect(text).not.toContain(secret)
  })

  test('of a run that waits, is resumed, fails or is cancelled tells where it is', async () => {
    const { run_id: id } = await ask('asks')
    expect(await read(id, 'markdown')).toMatch(
      /^# Run of the agent asks: input_required\n.*### 1\. wait · seq 2 · waits for a person\n\n```\nWhich \*day\*\?\n```.*## Answer\n\nNone\.\n$/s,
    )
    await call('POST', `/runs/${id}/resume`, { input: 'Monday' })
    expect(await read(id, 'markdown')).toMatch(/: completed\n.*answered by a person after .*Thanks\.\n```\n$/s)
    const { json } = await call('POST', '/agents/fails/run', { input: 'x' })
    const failed = await read(json.error.run_id, 'markdown')
    expect(failed).toMatch(/: failed\n.*half.*## Error\n\nrun_failed:\n\n```\n.*```\n$/s)
    const { run_id: other } = await ask('asks')
    await call('POST', `/runs/${other}/cancel`, { reason: 'not *now*' })
    expect(await read(other, 'markdown')).toMatch(/: cancelled\n.*## Cancelled\n\n```\nnot \*now\*\n```\n$/s)
  })

  test('of a run that is under way, or waits for its turn, is there at once', async () => {
    const { run_id: id, session_id: session } = await ask('holds', { background: true })
    const { run_id: next } = await ask('holds', { background: true, session_id: session })
    await expect.poll(() => read(id, 'markdown')).toContain('```\nso far\n```')
    expect(await read(id, 'markdown')).toContain('# Run of the agent holds: running')
    expect(await read(next, 'markdown')).toMatch(/: queued\n.*took: 0 ms\n.*hello.*## Steps\n\n## Answer\n\nNone/s)
    expect(await read(next, 'curl')).toContain(`"session_id":"${session}"`)
    await call('POST', `/runs/${next}/cancel`)
    await call('POST', `/runs/${id}/cancel`)
  })

  test('of a run from the cache, a team, its member and a workflow has their steps', async () => {
    await ask('cached')
    expect(await read((await ask('cached')).run_id, 'markdown')).toMatch(
      /### 1\. end · seq \d+ · completed · from the cache/,
    )
    const { run_id: id } = await ask('both')
    const whole = await read(id, 'markdown')
    const [, child = ''] = /\nrun inside: (\S+)\n/.exec(whole) ?? []
    expect(whole).toMatch(/^# Run of the team both: completed\n/)
    expect(await read(child, 'markdown')).toContain(`#### Prompt of call 1\n\nsystem:\n\n\`\`\`\n${secret}\n\`\`\``)
    expect(await read((await ask('flow')).run_id, 'markdown')).toMatch(
      /\n### 1\. step · seq 2 · completed · \d+ ms\n\nadd\n\nOutput:\n\n```json\n\{\n {2}"sum": 3\n\}\n```\n/,
    )
  })

  test('has prompts that are no list of messages, and says which are not there', async () => {
    const text = await read((await ask('own')).run_id, 'markdown')
    expect(text).toContain('#### Prompt of call 1\n\n```\na prompt of its own\n```\n')
    expect(text).toContain('model: mine\n\nSome messages of the prompt are gone.\n')
  })
})

describe('a run as what asks the same', () => {
  test('names the session for all turns but the first, and for no run inside another', async () => {
    const first = await ask('says')
    const { session_id } = first
    const second = await ask('says', { session_id, input: 'again' })
    const third = await ask('says', { session_id, input: 'instead', replaces: second.run_id })
    const { run_id: team } = await ask('both')
    const child = (await call('GET', `/runs?parent_run_id=${team}`)).json.runs[0].run_id
    const texts = await Promise.all(
      [first.run_id, second.run_id, third.run_id, child].map((id) => read(id, 'curl', {}, runner)),
    )
    expect(texts.map((text) => text.includes(session_id))).toEqual([false, true, true, false])
    expect(texts[0]).toBe(
      [
        `curl '${server.url}/api/v1/agents/says/run' \\`,
        "  -H 'Content-Type: application/json' \\",
        '  -H "Authorization: Bearer $AGENTSERVE_API_KEY" \\',
        `  -d '{"input":"hello"}'\n`,
      ].join('\n'),
    )
  })

  test('asks where the request did, or where the config says', async () => {
    const { run_id: id } = await ask('says')
    const forwarded = { 'x-forwarded-proto': 'https' }
    expect(await read(id, 'typescript', forwarded)).toContain(`createClient({ url: "${server.url}", apiKey:`)
    const a2a = { publicUrl: 'https://example.org/agents/' }
    const other = await startServer({ a2a, prefix: '/v2', trustProxy: 'loopback' })
    try {
      const { json } = await other.call('POST', '/v2/agents/echo/run', { input: 'hi' })
      const path = `/v2/runs/${json.run_id}/text`
      expect((await other.call('GET', `${path}?as=use-chat`)).text).toContain(
        'api: "https://example.org/agents/v2/chat/echo"',
      )
      expect((await other.call('GET', `${path}?as=typescript`)).text).toContain(
        'createClient({ url: "https://example.org/agents", prefix: "/v2" })',
      )
      expect((await other.call('GET', path)).text).toContain('- link: https://example.org/agents/studio/s/')
    } finally {
      await other.close()
    }
  })
})

test('a page in React is not given where no agent is served to it', async () => {
  const other = await startServer({ chat: false })
  try {
    const { json } = await other.call('POST', '/api/v1/agents/echo/run', { input: 'hi' })
    const path = `/api/v1/runs/${json.run_id}/text`
    const refused = await other.call('GET', `${path}?as=use-chat`)
    expect([refused.status, refused.json.error.message]).toEqual([400, expect.stringContaining('`server.chat` is off')])
    expect((await other.call('GET', `${path}?as=curl`)).status).toBe(200)
  } finally {
    await other.close()
  }
})

test('another form, and a run that is not there, are refused with what to do', async () => {
  const { run_id: id } = await ask('says')
  const wrong = await call('GET', `/runs/${id}/text?as=python`)
  expect([wrong.status, wrong.json.error.message]).toEqual([400, expect.stringContaining('use-chat')])
  expect((await call('GET', '/runs/run_none/text?as=python')).status).toBe(404)
  expect((await call('GET', `/runs/${id}/text`, undefined, { authorization: '' })).status).toBe(401)
})
