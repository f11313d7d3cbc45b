import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import type { ServerConfig } from '../../../src/config/types.ts'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { toolSource } from '../../../src/runnables/tools/source.ts'
import { tool } from '../../../src/runnables/tools/tool.ts'
import { workflow } from '../../../src/runnables/workflow/workflow.ts'
import { type ScriptedModel, scriptedModel } from '../../../src/testing/scripted-model.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { eventsOf, serveAgents } from '../agent-server.ts'
import { pick, told } from '../client-tools.ts'

/** One step calls a client tool, a tool that needs approval, and a workflow that asks twice. */
function mixed() {
  const wiped: string[] = []
  const model = scriptedModel(
    {
      tool_calls: [
        { name: 'pick', input: { of: ['red'] }, call_id: 'use-pick' },
        { name: 'wipe', input: {}, call_id: 'use-wipe' },
        { name: 'twice', input: { question: 'x' }, call_id: 'use-twice' },
      ],
    },
    'Done.',
  )
  const twice = workflow({ run: async ({ approve }) => `${await approve('one')} ${await approve('two')}` })
  const main = () =>
    agent({
      model,
      tools: {
        wipe: tool({ inputSchema: z.object({}), execute: () => `wiped ${wiped.push('disk')}` }),
        twice,
      },
      toolApproval: { wipe: 'user-approval' },
    })
  return { main, model, wiped, twice }
}

async function serve(main: object, config: ServerConfig = {}) {
  const server = await serveAgents({ main }, config)
  onTestFinished(() => server.close())
  const show = async (runId: string) => (await server.call('GET', `/api/v1/runs/${runId}`)).json
  return {
    server,
    events: server.events,
    start: async () => (await server.ask('main', 'Hi', { client_tools: [pick] })).json,
    resume: async (runId: string, answers: object) =>
      (await server.call('POST', `/api/v1/runs/${runId}/resume`, { answers })).json,
    /** The id of each open request by its kind and the name that it ends with. */
    open: async (runId: string): Promise<Record<string, string>> =>
      Object.fromEntries(
        (await show(runId)).waiting.map(({ kind, call_id }: { kind: string; call_id: string }) => [
          `${kind} ${call_id.replace(/^run_\w+\//, '')}`,
          call_id,
        ]),
      ),
  }
}

function expectAllTold(model: ScriptedModel) {
  expect(model.calls).toHaveLength(2)
  expect(told(model)).toEqual({
    'use-pick': { type: 'text', value: 'red' },
    'use-wipe': { type: 'text', value: 'wiped 1' },
    'use-twice': { type: 'text', value: 'A B' },
  })
}

test.each(['with one server', 'with a restart at each pause'])(
  'a client tool, an approval and an asked workflow wait in one step, %s',
  async (how) => {
    await using folder = await temporaryFolder()
    const config = { sessionStorage: { type: 'sqlite', path: join(folder.path, 'agentserve.db') } } as const
    const { main, model, wiped } = mixed()
    let now = await serve(main(), config)
    const restart = async () => {
      if (how === 'with one server') return
      await now.server.server.shutdown({ deadline: 1000 })
      now = await serve(main(), config)
    }
    const { run_id: runId, status } = await now.start()
    expect(status).toBe('input_required')
    await restart()
    const first = await now.open(runId)
    expect(Object.keys(first).toSorted()).toEqual(['approval one#1', 'approval use-wipe', 'tool use-pick'])
    const answers = {
      [first['tool use-pick'] ?? '']: { output: 'red' },
      [first['approval use-wipe'] ?? '']: { approved: true },
    }
    expect(await now.resume(runId, answers)).toMatchObject({ error: { code: 'invalid_request' } })
    const whole = { ...answers, [first['approval one#1'] ?? '']: { approved: true, input: 'A' } }
    expect(await now.resume(runId, whole)).toMatchObject({ status: 'input_required', error: null })
    expect(wiped).toEqual([])
    await restart()
    const second = await now.open(runId)
    expect(Object.keys(second)).toEqual(['approval two#1'])
    const last = { [second['approval two#1'] ?? '']: { approved: true, input: 'B' } }
    expect(await now.resume(runId, last)).toMatchObject({ status: 'completed', content: 'Done.', error: null })
    expect(wiped).toEqual(['disk'])
    expectAllTold(model)
    const results = eventsOf(await now.events(runId), 'tool_result').map(({ name, output }) => [name, output])
    expect(results.toSorted()).toEqual([
      ['pick', 'red'],
      ['twice', 'A B'],
      ['wipe', 'wiped 1'],
    ])
  },
)

test.each(['as it was', 'changed', 'gone'])(
  'an approved call that is made only after a second pause: its tool is then %s',
  async (how) => {
    const { model, wiped, twice } = mixed()
    const wipe = tool({ inputSchema: z.object({}), execute: () => `wiped ${wiped.push('disk')}` })
    let hash = 'a'
    let isGone = false
    const disk = toolSource(
      { description: 'A disk.' },
      {
        names: () => ['wipe'],
        open: async () => (isGone ? [] : [{ name: 'wipe', own: 'wipe', tool: wipe, hash, asks: 'It is dangerous.' }]),
      },
    )
    const now = await serve(agent({ model, tools: { disk, twice } }))
    const { run_id: runId } = await now.start()
    const first = await now.open(runId)
    const answers = {
      [first['tool use-pick'] ?? '']: { output: 'red' },
      [first['approval use-wipe'] ?? '']: { approved: true },
      [first['approval one#1'] ?? '']: { approved: true, input: 'A' },
    }
    expect(await now.resume(runId, answers)).toMatchObject({ status: 'input_required', error: null })
    if (how === 'changed') hash = 'b'
    isGone = how === 'gone'
    const second = await now.open(runId)
    const last = { [second['approval two#1'] ?? '']: { approved: true, input: 'B' } }
    expect(await now.resume(runId, last)).toMatchObject({ status: 'completed', content: 'Done.', error: null })
    const results = eventsOf(await now.events(runId), 'tool_result')
    const [result] = results.filter(({ name }) => name === 'wipe')
    if (how === 'as it was') return expect([wiped, result?.output]).toEqual([['disk'], 'wiped 1'])
    expect(wiped).toEqual([])
    const why = how === 'gone' ? 'is gone' : 'has changed since the call was asked for'
    expect(result?.error?.message).toContain(`The tool 'wipe' ${why}`)
    expect(result).not.toHaveProperty('denied')
    expect(told(model)).toMatchObject({ 'use-wipe': { type: 'execution-denied' }, 'use-twice': { value: 'A B' } })
  },
)
