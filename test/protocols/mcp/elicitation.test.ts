import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Any, callsOf, openMcp, shown } from './support.ts'

const forms = { capabilities: { elicitation: { form: {} } } }

/** The host's answer to the forms of a result, with the same arguments again. */
const again = (asked: Any, inputResponses: Record<string, Any>) => ({
  ...forms,
  params: { inputResponses, requestState: asked.requestState },
})
const accept = (content: object) => ({ action: 'accept', content })
const only = (asked: Any): [string, Any] => Object.entries(asked.inputRequests)[0] as [string, Any]

describe('an approval', () => {
  test('is asked of a person at the host, who sees what is approved', async () => {
    const { call } = await openMcp()
    const asked = await call('ask_cashier', { message: 'one' }, forms)
    expect(asked.resultType).toBe('input_required')
    const [key, form] = only(asked)
    expect(form).toEqual({
      method: 'elicitation/create',
      params: {
        mode: 'form',
        message: expect.stringContaining('"euros": 1'),
        requestedSchema: {
          type: 'object',
          properties: { approved: { type: 'boolean' } },
          required: ['approved'],
        },
      },
    })
    const done = await call('ask_cashier', { message: 'one' }, again(asked, { [key]: accept({ approved: true }) }))
    expect(shown(done)).toMatchObject({ status: 'completed', answer: expect.stringContaining('"paid":1') })
  })

  test.each([
    ['declines', { action: 'decline' }],
    ['says no', accept({ approved: false })],
  ])('is denied when the person %s', async (_how, response) => {
    const { call } = await openMcp()
    const asked = await call('ask_cashier', { message: 'one' }, forms)
    const done = await call('ask_cashier', { message: 'one' }, again(asked, { [only(asked)[0]]: response }))
    expect(shown(done)).toMatchObject({ status: 'completed' })
    expect(shown(done).answer).not.toContain('paid')
  })

  test.each([
    ['dismisses the form', { action: 'cancel' }],
    ['answers with text', accept({ approved: 'yes' })],
    ['answers with nothing', accept({})],
    ['answers nothing that is known', { whatever: 1 }],
  ])('stays open when the person %s', async (_how, response) => {
    const { call } = await openMcp()
    const asked = await call('ask_cashier', { message: 'one' }, forms)
    const paused = await call('ask_cashier', { message: 'one' }, again(asked, { [only(asked)[0]]: response }))
    expect(paused.resultType).toBe('complete')
    expect(shown(paused)).toMatchObject({
      status: 'input_required',
      next: expect.stringContaining('A person must decide'),
    })
  })

  test('of several calls needs an answer to each', async () => {
    const { call } = await openMcp()
    const asked = await call('ask_cashier', { message: 'one two' }, forms)
    const [first, second] = Object.keys(asked.inputRequests) as [string, string]
    const half = again(asked, { [first]: accept({ approved: true }) })
    expect(shown(await call('ask_cashier', { message: 'one two' }, half)).status).toBe('input_required')
    const both = again(asked, { [first]: accept({ approved: true }), [second]: { action: 'decline' } })
    const { answer } = shown(await call('ask_cashier', { message: 'one two' }, both))
    expect(answer).toContain('"paid":1')
    expect(answer).not.toContain('"paid":2')
  })

  test('that is answered twice pays once', async () => {
    const { call } = await openMcp()
    const asked = await call('ask_cashier', { message: 'one' }, forms)
    const yes = again(asked, { [only(asked)[0]]: accept({ approved: true }) })
    const [one, two] = await Promise.all([
      call('ask_cashier', { message: 'one' }, yes),
      call('ask_cashier', { message: 'one' }, yes),
    ])
    expect([shown(one).answer, shown(two).answer]).toEqual([shown(one).answer, shown(one).answer])
    const no = again(asked, { [only(asked)[0]]: { action: 'decline' } })
    expect(await call('ask_cashier', { message: 'one' }, no)).toMatchObject({ isError: true })
  })

  test.each([
    ['a host without forms', {}],
    ['a host with forms at an address only', { capabilities: { elicitation: { url: {} } } }],
  ])('is left to a person elsewhere by %s', async (_host, more) => {
    const { call, url } = await openMcp()
    const paused = await call('ask_cashier', { message: 'one' }, more)
    const { run_id } = shown(paused)
    expect(shown(paused)).toMatchObject({
      status: 'input_required',
      asks: [{ kind: 'approval', tool: 'pay', data: { euros: 1 } }],
      next: expect.stringContaining(`npx agentserve runs resume ${run_id} --approve`),
    })
    const refused = await call('answer_run', { run_id, input: true, approved: true }, more)
    expect(refused).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('A person must decide') }],
    })
    expect(shown(await call('get_run', { run_id }, more)).status).toBe('input_required')
    await fetch(`${url}/api/v1/runs/${run_id}/resume`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"approved":true}',
    })
    expect(shown(await call('get_run', { run_id }, more)).answer).toContain('"paid":1')
  })

  test('is left to a person elsewhere by a host of 2025, even one with forms', async () => {
    const { connect } = await openMcp()
    const client = await connect({}, { elicitation: {} })
    const paused = await client.callTool({ name: 'ask_cashier', arguments: { message: 'one' } })
    expect(shown(paused).status).toBe('input_required')
    expect(paused.isError).toBeUndefined()
  })

  test('is the model’s where the config says so', async () => {
    const { call, result } = await openMcp({ server: { mcp: { approveByTool: true } } })
    const { tools } = await result('tools/list')
    expect(tools.find(({ name }: Any) => name === 'answer_run').inputSchema.properties).toHaveProperty('approved')
    const { run_id } = shown(await call('ask_cashier', { message: 'one' }))
    const done = await call('answer_run', { run_id, approved: false, reason: 'Too much.' })
    expect(shown(done).status).toBe('completed')
    expect(shown(done).answer).not.toContain('paid')
  })

  test('is asked for by get_run too', async () => {
    const { call } = await openMcp()
    const { run_id } = shown(await call('ask_cashier', { message: 'one' }))
    const asked = await call('get_run', { run_id }, forms)
    const done = await call('get_run', { run_id }, again(asked, { [only(asked)[0]]: accept({ approved: true }) }))
    expect(shown(done).answer).toContain('"paid":1')
  })
})

describe('a question', () => {
  test('is a form, and its field is the answer', async () => {
    const { call } = await openMcp()
    const asked = await call('ask_asks', { message: 'x' }, forms)
    const [key, form] = only(asked)
    expect(form.params).toMatchObject({
      message: 'How many?',
      requestedSchema: { properties: { answer: { type: 'integer' } } },
    })
    const done = await call('ask_asks', { message: 'x' }, again(asked, { [key]: accept({ answer: 3 }) }))
    expect(shown(done).answer).toBe('It is 3')
  })

  test.each(['many', 1.5, { deep: [1] }])('is checked by its schema: %j is no answer', async (answer) => {
    const { call } = await openMcp()
    const asked = await call('ask_asks', { message: 'x' }, forms)
    const wrong = await call('ask_asks', { message: 'x' }, again(asked, { [only(asked)[0]]: accept({ answer }) }))
    expect(wrong.isError).toBe(true)
    const right = await call('ask_asks', { message: 'x' }, again(asked, { [only(asked)[0]]: accept({ answer: 3 }) }))
    expect(shown(right).answer).toBe('It is 3')
  })

  test.each([
    ['deep', forms],
    ['x', {}],
  ])('that is no form is answered by a tool', async (message, more) => {
    const { call } = await openMcp()
    const paused = await call('ask_asks', { message }, more)
    const { run_id } = shown(paused)
    expect(shown(paused)).toMatchObject({
      status: 'input_required',
      asks: [{ kind: 'input', prompt: 'How many?' }],
      next: `How many?\nTo answer, call answer_run with run_id ${run_id}.`,
    })
    const input = message === 'deep' ? { a: [1] } : 4
    expect(shown(await call('answer_run', { run_id, input }, more)).answer).toBe(`It is ${JSON.stringify(input)}`)
    expect(await call('answer_run', { run_id, input: 5 }, more)).toMatchObject({ isError: true })
  })
})

describe('what comes back with an answer', () => {
  const keys = [
    { id: 'ann', key: 'ann-ann-ann-ann-ann', userId: 'ann' },
    { id: 'bob', key: 'bob-bob-bob-bob-bob', userId: 'bob' },
  ]
  const refused = { error: { code: -32602, data: { reason: 'invalid_request_state' } } }

  test('is of the caller that was asked, and of this tool', async () => {
    const { call } = await openMcp({ server: { auth: { keys } } })
    const [ann, bob] = keys.map(({ key }) => ({ headers: { authorization: `Bearer ${key}` } })) as [Any, Any]
    const asked = await call('ask_cashier', { message: 'one' }, { ...forms, ...ann })
    const yes = again(asked, { [only(asked)[0]]: accept({ approved: true }) })
    expect(await call('ask_cashier', { message: 'one' }, { ...yes, ...bob })).toMatchObject(refused)
    expect(await call('ask_echo', { message: 'one' }, { ...yes, ...ann })).toMatchObject({ isError: true })
    expect(shown(await call('ask_cashier', { message: 'one' }, { ...yes, ...ann })).answer).toContain('paid')
  })

  test.each([
    ['made up', () => 'v1.e30.AAAA'],
    ['changed', (state: string) => state.replace(/.(?=\.[^.]*$)/, (last) => (last === 'A' ? 'B' : 'A'))],
    ['very long', () => 'x'.repeat(1_000_000)],
  ])('is refused when it is %s', async (_how, change) => {
    const { call } = await openMcp()
    const asked = await call('ask_cashier', { message: 'one' }, forms)
    const yes = again({ requestState: change(asked.requestState) }, { [only(asked)[0]]: accept({ approved: true }) })
    expect(await call('ask_cashier', { message: 'one' }, yes)).toMatchObject(refused)
  })

  test('is known after a restart, by a key that only the owner reads', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'mcp-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    const stored = { server: { sessionStorage: { type: 'sqlite' as const, path: join(folder, 'sessions.db') } } }
    const before = await openMcp(stored)
    const asked = await before.call('ask_cashier', { message: 'one' }, forms)
    await before.server.shutdown()
    expect((await stat(join(folder, 'mcp-state.key'))).mode & 0o777).toBe(0o600)
    expect((await readdir(folder)).filter((name) => name.startsWith('mcp-state'))).toEqual(['mcp-state.key'])
    const { mcp } = await openMcp(stored)
    const { call } = callsOf(mcp)
    const done = await call(
      'ask_cashier',
      { message: 'one' },
      again(asked, { [only(asked)[0]]: accept({ approved: true }) }),
    )
    expect(shown(done)).toMatchObject({ status: 'completed', answer: expect.stringContaining('"paid":1') })
  })
})
