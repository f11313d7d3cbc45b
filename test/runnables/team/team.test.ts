import { ToolLoopAgent } from 'ai'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { RunEvent } from '../../../src/core/event.ts'
import { isRunnable, type Runnable } from '../../../src/core/runnable.ts'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { withDefaults } from '../../../src/runnables/base/defaults.ts'
import { type TeamSettings, team } from '../../../src/runnables/team/team.ts'
import { tool } from '../../../src/runnables/tools/tool.ts'
import { workflow } from '../../../src/runnables/workflow/workflow.ts'
import { collect as eventsOf, openServices, request } from '../../support/services.ts'
import { answer, callTool, scripted } from '../fixture.ts'

const shout = agent({ name: 'shout', description: 'Says it loud.', run: ({ text }) => text.toUpperCase() })
const source = { type: 'source', index: 1, source: 'a.md', document_id: 'd', chunk_id: 'c' } as const
const facts = agent({
  *run() {
    yield source
    yield 'fact'
  },
})
const failing = agent({
  name: 'failing',
  run: () => {
    throw new Error('no luck')
  },
})

const open: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of open.splice(0)) await close()
})

/** The team as the entity `team`, in real services. */
async function serve(entities: Record<string, Runnable>) {
  const services = await openServices(entities)
  open.push(() => services.runs.shutdown(0))
  const start = (text: string, more = {}) => services.runs.start(request('team', text, more))
  async function run(text: string, more = {}) {
    const handle = await start(text, more)
    const events = await eventsOf(handle.events())
    const record = await handle.result()
    const of = <T extends RunEvent['type']>(type: T) =>
      events.filter((event): event is Extract<RunEvent, { type: T }> => event.type === type)
    const children = (await services.runs.list({ parent_run_id: handle.runId }, { limit: 100 })).items.reverse()
    return { events, of, record, children, types: events.map(({ type }) => type), text: textOf(record) }
  }
  return { ...services, start, run }
}

function textOf({ messages }: { messages: readonly { role: string; content: string }[] }): string {
  return messages.map(({ role, content }) => (role === 'assistant' ? content : '')).join('')
}

describe('a team in sequence', () => {
  it('gives each member the input and the answers so far, and answers with the last one', async () => {
    const { run } = await serve({ facts, team: team({ members: ['facts', shout] }) })
    const { text, of, types } = await run('Go')
    expect(types).toEqual(['run_start', 'step_start', 'step_end', 'step_start', 'text_delta', 'step_end', 'run_end'])
    expect(of('step_start').map(({ name }) => name)).toEqual(['facts', 'shout'])
    expect(of('step_end').map(({ status, output }) => ({ status, output }))).toEqual([
      { status: 'completed', output: 'fact' },
      { status: 'completed', output: text },
    ])
    expect(text).toBe('GO\n\nANSWERS OF THE TEAM SO FAR:\n\nANSWER OF FACTS:\nFACT')
  })

  it('gives code the answers so far as a list', async () => {
    const seen = agent({ name: 'seen', run: ({ answers }) => JSON.stringify(answers) })
    const { run } = await serve({ facts, team: team({ members: ['facts', seen, seen] }) })
    const first = [{ name: 'facts', text: 'fact' }]
    const { text, of } = await run('Go')
    expect(of('step_end').map(({ output }) => output)).toEqual(['fact', JSON.stringify(first), text])
    expect(JSON.parse(text)).toEqual([...first, { name: 'seen', text: JSON.stringify(first) }])
    const plan = agent({
      *run() {
        yield { type: 'data', data: { draft: 1 } }
        yield { type: 'data', data: { plan: 2 } }
      },
    })
    const told = agent({
      *run() {
        yield 'So:'
        yield { type: 'data', data: [3] }
      },
    })
    const planned = await serve({ plan, told, team: team({ members: ['plan', 'told', seen] }) })
    expect(JSON.parse((await planned.run('Go')).text)).toEqual([
      { name: 'plan', text: '{"plan":2}' },
      { name: 'told', text: 'So:\n[3]' },
    ])
    const alone = await serve({ team: seen })
    expect((await alone.run('Go')).text).toBe('[]')
  })

  it('gives each member a run of its own inside the session, which is no turn of it', async () => {
    const { run, runs, sessions } = await serve({ facts, team: team({ members: ['facts', shout] }) })
    const { record, children, of } = await run('Go')
    expect(children).toMatchObject([
      { entity_id: 'facts', status: 'completed', parent_run_id: record.run_id, session_id: record.session_id },
      { entity_id: 'shout', status: 'completed' },
    ])
    expect(of('step_start').map(({ child_run_id }) => child_run_id)).toEqual(children.map(({ run_id }) => run_id))
    expect((await runs.get(children[0]?.run_id ?? '')).messages.map(({ content }) => content)).toEqual(['Go', 'fact'])
    expect((await sessions.get(record.session_id)).session).toMatchObject({
      run_count: 1,
      runs: [{ entity_id: 'team' }],
    })
    const { messages } = {
      messages: (await sessions.history(record.session_id, 10, false)).runs.flatMap((r) => r.messages),
    }
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant'])
  })

  it("passes on the last member's sources, and sums what all of them used", async () => {
    const counted = agent({ name: 'counted', model: scripted(answer('one')) })
    const { run } = await serve({ team: team({ members: [counted, facts] }) })
    const { of, record } = await run('Go')
    expect(of('source')).toMatchObject([source])
    expect(record.usage).toEqual({ input_tokens: 7, output_tokens: 3, total_tokens: 10 })
  })

  it('fails with its member and does not ask the next one', async () => {
    const { run } = await serve({ team: team({ members: [failing, shout] }) })
    const { record, of, children } = await run('x')
    expect(record).toMatchObject({ status: 'failed', error: { code: 'run_failed' } })
    expect(of('step_end')).toMatchObject([{ status: 'failed' }])
    expect(children.map(({ entity_id, status }) => [entity_id, status])).toEqual([['failing', 'failed']])
  })

  it('cancels its members with itself', async () => {
    const begun = Promise.withResolvers<void>()
    const waiting = agent({
      name: 'waiting',
      run: ({ signal }) => {
        begun.resolve()
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
      },
    })
    const { start, runs } = await serve({ team: team({ members: [waiting] }) })
    const handle = await start('x')
    await begun.promise
    await runs.cancel(handle.runId, 'enough')
    await runs.idle()
    const { items } = await runs.list({ parent_run_id: handle.runId }, { limit: 10 })
    expect(items).toMatchObject([{ status: 'cancelled', cancellation_reason: 'enough' }])
  })

  it('says so when teams contain each other', async () => {
    const { run } = await serve({ team: team({ members: ['b'] }), b: team({ members: ['team'] }) })
    expect((await run('x')).record.error?.message).toContain('team → b → team')
  })

  it('hands the model of the config to members that are entities', async () => {
    const bound = withDefaults(team({ members: [agent({ name: 'm' })] }), { model: scripted(answer('bound')) })
    const { run } = await serve({ team: bound })
    expect((await run('x')).text).toBe('bound')
  })

  it('takes agents of the AI SDK as members', async () => {
    const helper = new ToolLoopAgent({ id: 'helper', model: scripted(answer('hosted')) })
    const { run } = await serve({ team: team({ members: [helper] }) })
    const { text, of } = await run('x')
    expect(text).toBe('hosted')
    expect(of('step_start')[0]?.name).toBe('helper')
  })

  it("shares the session's history and state with its members", async () => {
    const counting = agent({
      name: 'counting',
      async run({ state, history }) {
        state.seen = Number(state.seen ?? 0) + 1
        return `${(await history()).length}`
      },
    })
    const { run, sessions } = await serve({ team: team({ members: [counting, counting] }) })
    const first = await run('x')
    const second = await run('y', { sessionId: first.record.session_id })
    expect([first.text, second.text]).toEqual(['0', '2'])
    expect((await sessions.get(first.record.session_id)).session.state).toEqual({ seen: 4 })
  })
})

describe('a team in parallel', () => {
  it('asks all at once, and lets their answers stand in their order', async () => {
    const gate = Promise.withResolvers<void>()
    const slow = agent({ name: 'slow', run: () => gate.promise.then(() => 'late') })
    const quick = agent({
      name: 'quick',
      run() {
        gate.resolve()
        return 'early'
      },
    })
    const { run } = await serve({ team: team({ mode: 'parallel', members: [slow, quick] }) })
    expect((await run('x')).text).toBe('slow:\nlate\n\nquick:\nearly')
  })

  it('has a model answer from theirs when it has instructions', async () => {
    const model = scripted(answer('both agree'))
    const members = [agent({ name: 'one', run: () => 'yes' }), agent({ name: 'two', run: () => 'yes!' })]
    const { run } = await serve({ team: team({ mode: 'parallel', members, model, instructions: 'Compare.' }) })
    expect((await run('Is it?')).text).toBe('both agree')
    expect(JSON.stringify(model.doStreamCalls[0]?.prompt)).toContain('Answer of two:\\nyes!')
  })

  it('cancels the others when one fails', async () => {
    const stuck = agent({ name: 'stuck', run: () => new Promise(() => {}) })
    const { run, runs } = await serve({ team: team({ mode: 'parallel', members: [stuck, failing] }) })
    const { record } = await run('x')
    expect(record.status).toBe('failed')
    await runs.idle()
    const { items } = await runs.list({ parent_run_id: record.run_id }, { limit: 10 })
    expect(items.map(({ entity_id, status }) => [entity_id, status]).sort()).toEqual([
      ['failing', 'failed'],
      ['stuck', 'cancelled'],
    ])
  })
})

describe('a team that routes', () => {
  it('has the chosen member answer, with what was asked', async () => {
    const model = scripted(callTool('ask_shout', { task: 'something else' }))
    const { run } = await serve({ facts, team: team({ mode: 'route', members: ['facts', shout], model }) })
    const { text, of, record } = await run('Go')
    expect(text).toBe('GO')
    expect(of('step_start').map(({ name }) => name)).toEqual(['shout'])
    expect(record.usage?.total_tokens).toBe(10)
    expect(model.doStreamCalls[0]?.toolChoice).toEqual({ type: 'required' })
    expect(model.doStreamCalls[0]?.tools).toMatchObject([{ name: 'ask_facts' }, { description: 'Says it loud.' }])
  })

  it('fails when the model chooses nobody', async () => {
    const { run } = await serve({
      team: team({ mode: 'route', members: [shout], model: scripted(callTool('ask_nobody', {})) }),
    })
    expect((await run('x')).record).toMatchObject({ status: 'failed' })
  })
})

describe('a team with a lead', () => {
  it('delegates by tools, sees what the members say, and answers', async () => {
    const model = scripted(callTool('ask_shout', { task: 'hey' }), answer('It said HEY.'))
    const { run } = await serve({ team: team({ mode: 'lead', members: [shout], model }) })
    const { text, of, children, types } = await run('Make it loud')
    expect(text).toBe('It said HEY.')
    expect(of('tool_result')).toMatchObject([{ name: 'ask_shout', output: 'HEY' }])
    expect(of('step_end')).toMatchObject([{ status: 'completed', output: 'HEY' }])
    expect(children).toMatchObject([{ entity_id: 'shout' }])
    expect(types.indexOf('step_end')).toBeLessThan(types.indexOf('tool_result'))
    expect(JSON.stringify(model.doStreamCalls[1]?.prompt)).toContain('HEY')
  })

  it('is told when a member fails', async () => {
    const model = scripted(callTool('ask_failing', { task: 'x' }), answer('It did not work.'))
    const { run } = await serve({ team: team({ mode: 'lead', members: [failing], model }) })
    const { text, of } = await run('x')
    expect(text).toBe('It did not work.')
    expect(of('tool_result')[0]?.error?.message).toContain('threw an error')
  })

  it('says so when there is no model', async () => {
    const { run } = await serve({ team: team({ mode: 'lead', members: [shout] }) })
    expect((await run('x')).record.error?.message).toContain("mode 'lead' needs a model")
  })
})

describe('a member that waits for input', () => {
  const careful = (...answers: Parameters<typeof scripted>) =>
    agent({
      name: 'careful',
      model: scripted(...answers),
      tools: { wipe: tool({ inputSchema: z.object({ disk: z.string() }), execute: ({ disk }) => `wiped ${disk}` }) },
      toolApproval: { wipe: 'user-approval' },
    })
  const wipe = callTool('wipe', { disk: 'sda' })

  it.each([
    ['sequence', undefined],
    ['parallel', undefined],
    ['route', [callTool('ask_careful', { task: 'x' })]],
    ['lead', [callTool('ask_careful', { task: 'x' }), answer('All done.')]],
  ] as [NonNullable<TeamSettings['mode']>, Parameters<typeof scripted> | undefined][])(
    'makes the team wait, and goes on with it: %s',
    async (mode, answers) => {
      const model = answers === undefined ? {} : { model: scripted(...answers) }
      const members = [careful(wipe, answer('gone'))]
      const { run, runs } = await serve({ team: team({ mode, members, ...model }) })
      const first = await run('Wipe it')
      expect(first.record.status).toBe('input_required')
      expect(first.of('input_required')).toMatchObject([
        { call_id: expect.stringMatching(/\/use-wipe$/), tool: 'wipe', data: { disk: 'sda' } },
      ])
      const [child] = first.children
      expect(child).toMatchObject({ status: 'input_required' })
      await expect(runs.resume(child?.run_id ?? '', { approved: true, mode: 'plain' })).rejects.toMatchObject({
        code: 'conflict',
        message: expect.stringContaining(first.record.run_id),
      })
      const handle = await runs.resume(first.record.run_id, { approved: true, mode: 'plain' })
      const record = await handle.result()
      expect(record).toMatchObject({ status: 'completed', error: null })
      const { items } = await runs.list({ parent_run_id: record.run_id }, { limit: 10 })
      expect(items).toMatchObject([{ run_id: child?.run_id, status: 'completed' }])
      expect(textOf(record)).toContain(mode === 'lead' ? 'All done.' : 'gone')
      const events = await eventsOf(await runs.events(record.run_id, 0))
      const starts = events.filter((event) => event.type === 'step_start')
      expect(new Set(starts.map((event) => event.type === 'step_start' && event.step_id)).size).toBe(1)
      expect(events.filter((event) => event.type === 'step_end')).toMatchObject([{ status: 'completed' }])
    },
  )

  it('is waited for by the members after it, and those before it are not asked again', async () => {
    let asked = 0
    const first = agent({
      name: 'first',
      run() {
        asked++
        return 'first'
      },
    })
    const flow = workflow({ name: 'flow', run: async ({ approve }) => `approved ${await approve('it')}` })
    const told = workflow({
      name: 'told',
      run: async ({ approve, answers }) => {
        await approve('that')
        return answers.map(({ text }) => text).join(' and ')
      },
    })
    const { run, runs } = await serve({ team: team({ members: [first, flow, shout, told] }) })
    const paused = await run('x')
    expect(paused.of('input_required')).toMatchObject([{ call_id: expect.stringMatching(/\/it#1$/) }])
    const resume = async (input?: string) =>
      (await runs.resume(paused.record.run_id, { approved: true, input, mode: 'plain' })).result()
    expect(await resume('yes')).toMatchObject({ status: 'input_required' })
    const record = await resume()
    expect(record).toMatchObject({ status: 'completed' })
    expect(textOf(record)).toMatch(/^first and approved yes and X\n.*ANSWER OF FLOW:\nAPPROVED YES/s)
    expect(asked).toBe(1)
  })

  it('is cancelled with the team', async () => {
    const { run, runs } = await serve({ team: team({ members: [careful(wipe)] }) })
    const { record, children } = await run('x')
    expect(await runs.cancel(record.run_id)).toMatchObject({ status: 'cancelled', cancellation_reason: 'requested' })
    expect(await runs.get(children[0]?.run_id ?? '')).toMatchObject({ status: 'cancelled' })
  })
})

describe('team()', () => {
  it.each([
    [{}, 'members'],
    [{ members: [] }, 'members'],
    [{ members: [5] }, 'members.0'],
    [{ members: ['a'], mode: 'leader' }, 'mode'],
    [{ members: ['a'], lead: 'a' }, 'lead'],
  ])('refuses %j', (settings, path) => {
    expect(() => team(settings as never)).toThrow(
      expect.objectContaining({ code: 'invalid_request', details: [expect.objectContaining({ path })] }),
    )
  })

  it('lists the modes that there are', () => {
    expect(() => team({ members: ['a'], mode: 'leader' as never })).toThrow(
      "one of 'lead', 'route', 'parallel', 'sequence'",
    )
    expect(isRunnable(team({ members: ['a'], mode: 'route' }))).toBe(true)
  })
})
