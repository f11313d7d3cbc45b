import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { UserConfig } from '../../src/config/types.ts'
import type { RunRecord } from '../../src/core/run.ts'
import { agent } from '../../src/runnables/agent/agent.ts'
import { mcp } from '../../src/runnables/mcp/mcp.ts'
import { team } from '../../src/runnables/team/team.ts'
import { tool } from '../../src/runnables/tools/tool.ts'
import { playSavedTest } from '../../src/testing/play.ts'
import { openWith, type RunResult } from '../../src/testing/project.ts'
import { type RunToSave, toSavedTest } from '../../src/testing/saved-test.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'

const root = import.meta.dirname
const fixture = join(root, '../fixtures/mcp-server.ts')

/** Runs a conversation for real, and gives it as the command reads it from the record. */
async function converse(config: UserConfig, id: string, ...inputs: string[]): Promise<RunToSave[]> {
  await using project = await openWith(config, root, undefined)
  const runs: RunToSave[] = []
  let sessionId: string | undefined
  const read = async (runId: string, events: RunResult['events']): Promise<RunToSave> => {
    const { body } = await project.inject({ method: 'GET', url: `/api/v1/runs/${runId}` })
    let text = ''
    for await (const chunk of body) text += Buffer.from(chunk).toString()
    return { run: JSON.parse(text) as RunRecord, events, members: await readMembers(events) }
  }
  const readMembers = async (events: RunResult['events']): Promise<RunToSave[]> => {
    const members: RunToSave[] = []
    for (const event of events) {
      if (event.type !== 'step_start' || event.child_run_id === undefined) continue
      members.push(await read(event.child_run_id, await project.events(event.child_run_id)))
    }
    return members
  }
  for (const input of inputs) {
    const result = await project.run(id, input, sessionId === undefined ? {} : { sessionId })
    sessionId = result.session_id
    runs.push(await read(result.run_id, result.events))
  }
  return runs
}

const counting = () => {
  const calls: string[] = []
  const lookUp = tool({
    inputSchema: z.object({ word: z.string() }),
    execute: async ({ word }) => {
      calls.push(word)
      if (word === 'nothing') throw new Error('no such word')
      return `meaning of ${word}`
    },
  })
  return { calls, lookUp }
}

const asking = (...words: string[]) =>
  scriptedModel(
    { reasoning: 'let me see', tool_calls: words.map((word) => ({ name: 'lookUp', input: { word } })) },
    'That is what it means.',
  )

describe('a saved test', () => {
  it('plays tools that worked and tools that failed as they did, without running them', async () => {
    const { calls, lookUp } = counting()
    const config = (model = asking()) => ({ agents: { words: agent({ model, tools: { lookUp } }) } })
    const saved = toSavedTest(await converse(config(asking('sea', 'nothing', 'sea')), 'words', 'sea?'))
    expect(calls).toEqual(['sea', 'nothing', 'sea'])
    const played = await playSavedTest(config(), saved, { root })
    expect(played).toMatchObject({ passed: true, differences: [], notes: [] })
    expect(calls).toHaveLength(3)
    expect(saved.turns[0]?.expect.tool_calls[1]).toEqual({
      name: 'lookUp',
      input: { word: 'nothing' },
      error: 'no such word',
    })
  })

  it('stands in for the tools of an MCP server, which is not started', async () => {
    const model = scriptedModel({ tool_calls: [{ name: 'x_add', input: { a: 1, b: 2 } }] }, 'three')
    const config = (command: string) => ({
      agents: { sums: agent({ model, tools: { x: mcp({ command, args: [fixture] }) } }) },
    })
    const saved = toSavedTest(await converse(config(process.execPath), 'sums', '1 + 2'))
    const { passed, differences } = await playSavedTest(config('/not/there'), saved, { root })
    expect({ passed, differences }).toEqual({ passed: true, differences: [] })
  })

  it('plays a team whose members have models of their own, and a leader who delegates', async () => {
    const leader = () =>
      scriptedModel({ tool_calls: [{ name: 'ask_sea', input: { task: 'What is it?' } }] }, 'It is blue.')
    const config = (model = scriptedModel('never'), member = scriptedModel('never')) => ({
      agents: { sea: agent({ model: member, description: 'Knows the sea.' }) },
      teams: { crew: team({ members: ['sea'], mode: 'lead', model }) },
    })
    const saved = toSavedTest(await converse(config(leader(), scriptedModel('Blue, mostly.')), 'crew', 'The sea?'))
    expect(saved.turns[0]?.model_calls.map(({ text }) => text)).toEqual([undefined, 'Blue, mostly.', 'It is blue.'])
    expect(await playSavedTest(config(), saved, { root })).toMatchObject({ passed: true, differences: [], notes: [] })
  })

  it('refuses a conversation with a file', async () => {
    const runs = await converse({ agents: { a: agent({ model: scriptedModel('yes') }) } }, 'a', 'well?')
    const [first] = runs
    const file = { type: 'file' as const, media_type: 'image/png', file_id: 'file_1', size: 3 }
    first?.run.messages[0]?.parts.push(file)
    expect(() => toSavedTest(runs)).toThrow("has a file in its input, which a test can't hold")
  })

  it('tells a model that is asked more or less often than it was', async () => {
    const saved = toSavedTest(await converse({ agents: { a: agent({ model: scriptedModel('yes') }) } }, 'a', 'well?'))
    const silent = { agents: { a: agent({ run: () => 'yes' }) } }
    expect((await playSavedTest(silent, saved, { root })).differences).toEqual([
      { turn: 1, what: 'model_calls', expected: 1, actual: 0 },
    ])
    const member = () => agent({ model: scriptedModel() })
    const twice = { teams: { a: team({ members: [member(), member()] }) } }
    const { passed, differences } = await playSavedTest(twice, saved, { root })
    expect(passed).toBe(false)
    expect(differences.map(({ what }) => what)).toContain('status')
  })

  it('can not be made of what is no conversation with one agent that has ended', async () => {
    const [first] = await converse({ agents: { a: agent({ run: () => 'yes' }) } }, 'a', 'well?')
    if (first === undefined) throw new Error('no run')
    const other = { ...first, run: { ...first.run, entity_id: 'b' } }
    const running = { ...first, run: { ...first.run, status: 'running' as const } }
    const waiting = { ...first, run: { ...first.run, status: 'input_required' as const } }
    expect(() => toSavedTest([])).toThrow('no runs to save as a test')
    expect(() => toSavedTest([first, other])).toThrow("has runs of 'a' and 'b'")
    expect(() => toSavedTest([running])).toThrow('is running')
    expect(() => toSavedTest([waiting])).toThrow('is input_required; only an ended run')
  })
})
