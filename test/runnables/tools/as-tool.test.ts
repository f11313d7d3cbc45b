import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { partsOf } from '../../../src/runnables/again/answer-stream.ts'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { withDefaults } from '../../../src/runnables/base/defaults.ts'
import { runContext } from '../../../src/runnables/base/run-context.ts'
import { team } from '../../../src/runnables/team/team.ts'
import { asTool } from '../../../src/runnables/tools/as-tool.ts'
import { tool } from '../../../src/runnables/tools/tool.ts'
import { workflow } from '../../../src/runnables/workflow/workflow.ts'
import { runnable } from '../../support/services.ts'
import { closeAsking, ofType, saidBy, serveAsking } from '../asking.ts'
import { answer, callTool, scripted } from '../fixture.ts'

afterEach(closeAsking)

const upper = agent({ name: 'upper', description: 'Says it loud.', run: ({ text }) => text.toUpperCase() })
const careful = workflow({ run: async ({ text, approve }) => `${text}: ${await approve('publish')}` })
const object = runnable(async function* () {
  yield { type: 'data', data: { n: 1 } } as const
})

const calls = (...names: [name: string, input: string][]) =>
  partsOf({
    tool_calls: names.map(([name, question], n) => ({ name, input: { question }, call_id: `call${n}` })),
    usage: { input_tokens: 1, output_tokens: 1 },
  })

describe('an entity as a tool', () => {
  it('is asked by the model: by its id, itself, or a team and a workflow', async () => {
    const model = scripted(
      calls(['helper', 'a'], ['upper', 'b'], ['both', 'c'], ['flow', 'd'], ['object', 'e'], ['failing', 'f']),
      answer('Done.'),
    )
    const main = agent({
      model,
      tools: {
        helper: asTool('upper', { description: 'Helps.' }),
        upper,
        both: asTool(team({ members: [upper] })),
        flow: workflow({ run: ({ text }) => `flow ${text}` }),
        object: asTool('object'),
        failing: agent({
          run: () => {
            throw new Error('no')
          },
        }),
      },
    })
    const { run, eventsOf, children } = await serveAsking({ main, upper, object })
    const record = await run()
    expect({ status: record.status, said: saidBy(record), error: record.error }).toEqual({
      status: 'completed',
      said: 'Done.',
      error: null,
    })
    const events = await eventsOf(record.run_id)
    const results = ofType(events, 'tool_result').map(({ name, output, error }) => [name, output ?? error?.message])
    expect(Object.fromEntries(results)).toEqual({
      helper: 'A',
      upper: 'B',
      both: 'C',
      flow: 'flow d',
      object: { n: 1 },
      failing: expect.stringContaining('threw an error'),
    })
    expect(await children(record.run_id)).toHaveLength(6)
    expect(ofType(events, 'step_start').map(({ parent_id }) => parent_id)).toEqual(
      [0, 1, 2, 3, 4, 5].map((n) => `call${n}`),
    )
    const described = model.doStreamCalls[0]?.tools?.map((one) => [one.name, 'description' in one && one.description])
    expect(Object.fromEntries(described ?? [])).toMatchObject({
      helper: 'Helps.',
      upper: 'Says it loud.',
      object: "Asks 'object'.",
    })
  })

  it('gets the model of the config, and stays usable as a member of a team', async () => {
    const inner = agent({ name: 'inner' })
    const main = agent({ model: scripted(calls(['inner', 'x']), answer('Done.')), tools: { inner } })
    const bound = withDefaults(main, { model: scripted(answer('from the config')) })
    const { run, eventsOf } = await serveAsking({ main: bound })
    const record = await run()
    expect(ofType(await eventsOf(record.run_id), 'tool_result')).toMatchObject([{ output: 'from the config' }])
    const group = await serveAsking({ main: team({ members: [upper] }) })
    expect(saidBy(await group.run('x'))).toBe('X')
  })

  it('pauses the run, and the same calls are made again with what was said', async () => {
    const model = scripted(calls(['careful', 'one'], ['upper', 'x'], ['careful', 'two']), answer('Done.'))
    const main = agent({ model, tools: { careful: asTool('careful'), upper } })
    const { run, resume, requests, eventsOf, children } = await serveAsking({ main, careful, upper })
    const { run_id: runId, status } = await run()
    expect(status).toBe('input_required')
    const asked = await requests(runId)
    expect(asked).toHaveLength(2)
    expect(new Set(asked.map(({ call_id }) => call_id)).size).toBe(2)
    const answers = Object.fromEntries(asked.map(({ call_id = '' }, n) => [call_id, { approved: true, input: n }]))
    const record = await resume(runId, { answers })
    expect({ status: record.status, said: saidBy(record) }).toEqual({ status: 'completed', said: 'Done.' })
    const results = ofType(await eventsOf(runId), 'tool_result').map(({ output }) => output)
    expect(results.toSorted()).toEqual(['X', expect.stringMatching(/^one: \d$/), expect.stringMatching(/^two: \d$/)])
    expect(await children(runId)).toHaveLength(3)
    const told = JSON.stringify(model.doStreamCalls[1]?.prompt)
    for (const output of results) expect(told).toContain(output)
    expect(model.doStreamCalls).toHaveLength(2)
  })

  it.each(['', 5, null, new Date()])('refuses %s', (value) => {
    expect(() => asTool(value as never)).toThrow(expect.objectContaining({ code: 'invalid_request' }))
    expect(() => asTool('x', { about: 'y' } as never)).toThrow(expect.objectContaining({ code: 'invalid_request' }))
  })

  it('fails the run when the config has no such entity', async () => {
    const { run } = await serveAsking({ main: agent({ model: scripted(answer('x')), tools: { a: asTool('nobody') } }) })
    expect((await run()).error?.code).toBe('agent_not_found')
  })
})

describe('ask() in a tool', () => {
  it('may ask several times, and stream; the call is made again after each pause', async () => {
    const log: string[] = []
    const inputSchema = z.object({ question: z.string() })
    const both = tool({
      inputSchema,
      async execute({ question }) {
        log.push(`both ${question}`)
        const { ask } = runContext()
        const first = await ask('upper', question)
        const second = await ask('careful', 'second')
        const third = await ask('careful', 'third')
        return [first, second, third].map(({ text }) => text).join()
      },
    })
    const streaming = tool({
      inputSchema,
      async *execute({ question }) {
        yield 'working'
        yield (await runContext().ask('careful', question)).text
      },
      toModelOutput: ({ output }) => ({ type: 'text', value: `told ${(output as string).length}` }),
    })
    const model = scripted(calls(['both', 'x'], ['streaming', 'y']), answer('Done.'))
    const main = agent({ model, tools: { both, streaming } })
    const { run, resume, eventsOf, children } = await serveAsking({ main, upper, careful })
    const { run_id: runId } = await run()
    expect((await resume(runId, { approved: true, input: 'A' })).status).toBe('input_required')
    const record = await resume(runId, { approved: true, input: 'B' })
    expect({ said: saidBy(record), error: record.error }).toEqual({ said: 'Done.', error: null })
    const results = ofType(await eventsOf(runId), 'tool_result').map(({ name, output }) => [name, output])
    expect(Object.fromEntries(results)).toEqual({ both: 'X,second: A,third: B', streaming: 'y: A' })
    expect(results).toHaveLength(2)
    expect(log).toEqual(['both x', 'both x', 'both x'])
    expect(await children(runId)).toHaveLength(4)
    expect(JSON.stringify(model.doStreamCalls[1]?.prompt)).toContain('told 4')
  })

  it('waits beside a call that needs approval; each gets its own answer', async () => {
    const wiped: string[] = []
    const wipe = tool({
      inputSchema: z.object({ question: z.string() }),
      execute({ question }) {
        wiped.push(question)
        return 'wiped'
      },
    })
    const twice = workflow({ run: async ({ approve }) => `${await approve('one')} ${await approve('two')}` })
    const model = scripted(calls(['wipe', 'sda'], ['twice', 'x']), answer('Done.'))
    const main = agent({ model, tools: { wipe, twice: asTool('twice') }, toolApproval: { wipe: 'user-approval' } })
    const { run, resume, requests, eventsOf } = await serveAsking({ main, twice })
    const { run_id: runId } = await run()
    const first = await requests(runId)
    expect(first.map(({ call_id }) => call_id?.replace(/^run_\w+/, 'run'))).toEqual(['call0', 'run/one#1'])
    const other = first[1]?.call_id ?? ''
    const answers = { call0: { approved: true }, [other]: { approved: true, input: 'A' } }
    expect((await resume(runId, { answers })).status).toBe('input_required')
    expect(wiped).toEqual([])
    const second = await requests(runId)
    expect(second).toMatchObject([{ call_id: expect.stringMatching(/two#1$/) }])
    const record = await resume(runId, { answers: { [second[0]?.call_id ?? '']: { approved: true, input: 'B' } } })
    expect({ said: saidBy(record), error: record.error }).toEqual({ said: 'Done.', error: null })
    expect(wiped).toEqual(['sda'])
    const results = ofType(await eventsOf(runId), 'tool_result').map(({ name, output }) => [name, output])
    expect(Object.fromEntries(results)).toEqual({ wipe: 'wiped', twice: 'A B' })
  })

  it('tells the model when the child is refused or the tool is gone', async () => {
    const model = scripted(callTool('careful', { question: 'x' }), answer('Sorry.'))
    const main = agent({ model, tools: { careful } })
    const { run, resume, eventsOf } = await serveAsking({ main })
    const { run_id: runId } = await run()
    const record = await resume(runId, { approved: false })
    expect({ said: saidBy(record), error: record.error }).toEqual({ said: 'Sorry.', error: null })
    const [result] = ofType(await eventsOf(runId), 'tool_result')
    expect(result?.error?.message).toContain("'publish' was not approved")
  })
})
