import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectMcp, type McpJudge, type McpQuestion, type McpReply, mcpClients } from '../../../judges/mcp.ts'
import { bin, command, environment } from '../../../support/program.ts'
import { type JudgedServer, newName, startJudged } from '../judged-server.ts'

/* The MCP server over HTTP, and on stdio in front of a server that runs, judged by the published clients of both eras. */

let judged: JudgedServer

beforeAll(async () => {
  judged = await startJudged({ 'docs/tea.md': '# Green tea\n\nGreen tea is brewed at seventy degrees.\n' })
  expect(await command(judged.project, ['ingest', 'docs'])).toMatchObject({ code: 0 })
})
afterAll(() => judged?.close())

const wayOf = (name: string) =>
  name === 'HTTP'
    ? { url: `${judged.url}/mcp` }
    : { command: process.execPath, args: [bin, 'mcp'], cwd: judged.project.folder, env: environment({}) }

const runsOf = async (session_id: string) => (await judged.own.runs.list({ session_id })).runs

const cases = ['HTTP', 'stdio'].flatMap((way) => mcpClients.map((client) => [client, way] as const))

describe.each(cases)('%s over %s', (client, way) => {
  const isModern = client === 'client 2 of 2026-07-28'
  /** In the era before, HTTP has no way for a question. */
  const canAsk = isModern || way === 'stdio'
  const questions: McpQuestion[] = []
  let reply: McpReply = { action: 'cancel' }
  let mcp: McpJudge
  /** One that takes no questions. */
  let plain: McpJudge

  beforeAll(async () => {
    const elicit = (question: McpQuestion) => {
      questions.push(question)
      return reply
    }
    ;[mcp, plain] = await Promise.all([connectMcp(client, wayOf(way), { elicit }), connectMcp(client, wayOf(way))])
  })
  afterAll(async () => {
    await Promise.all([mcp?.close(), plain?.close()])
  })

  const asked = (agent: string, args: object, reply_: McpReply) => {
    reply = reply_
    questions.length = 0
    return mcp.call(`ask_${agent}`, { message: 'Go', ...args })
  }
  const textOf = ({ content }: Awaited<ReturnType<McpJudge['call']>>) =>
    content.map(({ text }) => text ?? '').join('\n')
  const runIdOf = ({ structuredContent }: Awaited<ReturnType<McpJudge['call']>>) => String(structuredContent?.run_id)

  test('lists a tool per agent, and those for documents and runs', async () => {
    if (isModern) expect(mcp.version).toBe('2026-07-28')
    else if (mcp.version !== undefined) expect(mcp.version).toBe('2025-11-25')
    const { tools } = await mcp.listTools()
    const names = tools.map(({ name }) => name)
    const handles = ['search', 'fetch', 'get_run', 'answer_run', 'cancel_run']
    expect(names).toEqual(expect.arrayContaining([...handles, 'ask_forecast', 'ask_letter']))
    expect(tools.find(({ name }) => name === 'search')?.annotations?.readOnlyHint).toBe(true)
    for (const { inputSchema } of tools) expect(inputSchema).toMatchObject({ type: 'object' })
    expect((await mcp.listTools()).tools).toEqual(tools)
  })

  test('searches documents and reads them, as a tool and as resources', async () => {
    const found = JSON.parse(textOf(await mcp.call('search', { query: 'green tea' })))
    expect(found).toEqual({
      results: [{ id: expect.any(String), title: expect.stringContaining('tea.md'), url: expect.any(String) }],
    })
    const read = JSON.parse(textOf(await mcp.call('fetch', { id: found.results[0].id })))
    expect(read).toMatchObject({ id: found.results[0].id, text: expect.stringContaining('seventy degrees') })
    const { resources } = await mcp.listResources()
    const uri = resources[0]?.uri ?? ''
    expect(uri).toMatch(/^agentserve:\/\/documents\//)
    const { contents } = await mcp.readResource({ uri })
    expect(contents).toMatchObject([
      { uri, mimeType: expect.stringMatching(/^text\//), text: expect.stringContaining('seventy') },
    ])
  })

  test('asks an agent, with its progress, and goes on with the session', async () => {
    const told: { progress: number; message?: string }[] = []
    const onprogress = (progress: (typeof told)[number]) => void told.push(progress)
    const answer = await mcp.call('ask_forecast', { message: 'How warm is it?' }, { onprogress })
    expect(textOf(answer)).toMatch(/^One moment. It says .*"celsius":9/)
    expect(answer.isError).toBeFalsy()
    expect(answer.structuredContent).toMatchObject({
      run_id: expect.stringMatching(/^run_/),
      status: 'completed',
      usage: { total_tokens: 40 },
    })
    expect(told.length).toBeGreaterThan(0)
    const numbers = told.map(({ progress }) => progress)
    expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b))
    const session_id = newName('asked')
    await mcp.call('ask_recall', { message: 'One', session_id })
    const second = await mcp.call('ask_recall', { message: 'Two', session_id })
    expect(JSON.parse(textOf(second))).toMatchObject({ text: 'Two', before: ['user: One', expect.any(String)] })
    expect(second.structuredContent).toMatchObject({ session_id })
    const cited = await mcp.call('ask_library', { message: 'How hot is green tea brewed?' })
    expect(cited.content).toContainEqual(expect.objectContaining({ type: 'resource_link' }))
  })

  test.runIf(canAsk)('asks a person for an approval and for a form', async () => {
    const yes = await asked('clerk', {}, { action: 'accept', content: { approved: true } })
    expect(textOf(yes)).toMatch(/Done: .*"paid":5/)
    expect(questions).toHaveLength(1)
    expect(questions[0]?.message).toMatch(/refund/)
    expect(questions[0]?.message).toMatch(/5/)
    expect(questions[0]?.requestedSchema).toMatchObject({ required: ['approved'] })
    const no = await asked('clerk', {}, { action: 'accept', content: { approved: false } })
    expect(textOf(no)).toMatch(/Done: .*denied/)
    const declined = await asked('clerk', {}, { action: 'decline' })
    expect(textOf(declined)).toMatch(/Done: .*denied/)
    const later = await asked('clerk', {}, { action: 'cancel' })
    expect(later.structuredContent).toMatchObject({ status: 'input_required' })
    const form = await asked('asker', {}, { action: 'accept', content: { city: 'Ghent' } })
    expect(questions[0]).toMatchObject({ message: 'Where?', requestedSchema: { properties: { city: {} } } })
    expect(textOf(form)).toBe('It is {"city":"Ghent"}.')
  })

  test('says how a person decides where nobody can be asked, and the model can not', async () => {
    const who = canAsk ? plain : mcp
    const waits = await who.call('ask_clerk', { message: 'Refund me' })
    expect(waits.isError).toBeFalsy()
    expect(waits.structuredContent).toMatchObject({
      status: 'input_required',
      asks: [{ call_id: expect.any(String), prompt: expect.any(String), data: { euros: 5 } }],
    })
    const run_id = runIdOf(waits)
    expect(textOf(waits)).toContain(`agentserve runs resume ${run_id} --approve`)
    for (const more of [{ input: 'approve' }, { input: { approved: true } }, { approved: true }]) {
      const denied = await who.call('answer_run', { run_id, ...more })
      expect(denied.structuredContent?.status ?? 'refused').not.toBe('completed')
    }
    expect(await judged.own.runs.get(run_id)).toMatchObject({ status: 'input_required' })
    await judged.own.runs.resume(run_id, { approved: true })
    const done = await who.call('get_run', { run_id })
    expect(textOf(done)).toMatch(/Done: .*"paid":5/)
    const form = await who.call('ask_asker', { message: 'Where to?' })
    expect(textOf(form)).toContain('answer_run')
    const answer = await who.call('answer_run', { run_id: runIdOf(form), input: { city: 'Ghent' } })
    expect(textOf(answer)).toBe('It is {"city":"Ghent"}.')
  })

  test('a run that takes long is got later, or cancelled', async () => {
    const file = newName('long')
    const [first, other] = await Promise.all(
      [file, newName('long')].map((message) => mcp.call('ask_slow', { message, wait_seconds: 1 })),
    )
    if (first === undefined || other === undefined) throw new Error('nothing came')
    expect(first.structuredContent).toMatchObject({ status: 'running' })
    expect(textOf(first)).toContain('get_run')
    const late = mcp.call('get_run', { run_id: runIdOf(first), wait_seconds: 30 })
    await judged.go(`${file}-1`)
    await judged.go(`${file}-2`)
    expect(textOf(await late)).toBe('One two three.')
    const cancelled = await mcp.call('cancel_run', { run_id: runIdOf(other) })
    expect(cancelled.structuredContent).toMatchObject({ status: 'cancelled' })
    await expect.poll(() => judged.own.runs.get(runIdOf(other))).toMatchObject({ status: 'cancelled' })
  })

  test('a call that is aborted ends its run where the protocol says so', async () => {
    const session_id = newName('abort')
    const leave = new AbortController()
    const call = mcp.call('ask_slow', { message: session_id, session_id }, { signal: leave.signal })
    const left = expect(call).rejects.toThrow()
    await expect.poll(() => runsOf(session_id)).toMatchObject([{ status: 'running' }])
    leave.abort()
    await left
    if (canAsk) await expect.poll(() => runsOf(session_id)).toMatchObject([{ status: 'cancelled' }])
    else {
      await judged.go(`${session_id}-1`)
      await judged.go(`${session_id}-2`)
      await expect.poll(() => runsOf(session_id)).toMatchObject([{ status: 'completed' }])
    }
  })

  test('tells what went wrong', async () => {
    const failed = await mcp.call('ask_broken', { message: 'Bake' })
    expect(failed.isError).toBe(true)
    expect(textOf(failed)).toContain('The agent threw an error')
    for (const [name, args] of [
      ['ask_forecast', {}],
      ['ask_forecast', { message: 5 }],
      ['get_run', { run_id: 'run_00000000000000000000000000' }],
      ['fetch', { id: 'doc_nothing' }],
    ] as const) {
      expect(await mcp.call(name, args)).toMatchObject({ isError: true, content: [{ type: 'text' }] })
    }
    await expect(mcp.call('ask_nobody', { message: 'Hello' })).rejects.toMatchObject({ code: -32602 })
    await expect(mcp.readResource({ uri: 'agentserve://documents/none' })).rejects.toMatchObject({ code: -32602 })
  })
})
