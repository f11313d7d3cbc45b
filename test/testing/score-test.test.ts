import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { UserConfig } from '../../src/config/types.ts'
import { agent } from '../../src/runnables/agent/agent.ts'
import { tool } from '../../src/runnables/tools/tool.ts'
import { playTest } from '../../src/testing/play-test.ts'
import { parseSavedTest, type SavedTest, type SavedTurn } from '../../src/testing/saved-test.ts'
import { scoreSavedTest } from '../../src/testing/score-test.ts'
import { type Script, scriptedModel } from '../../src/testing/scripted-model.ts'

const root = import.meta.dirname

function saved(turns: Partial<SavedTurn>[], more: Partial<SavedTest> = {}): SavedTest {
  const expect = { status: 'completed' as const, content: 'old', tool_calls: [] }
  const call = { prompt_hash: 'x', text: 'recorded', finish_reason: 'stop', usage: null }
  const whole = turns.map((turn) => ({
    input: [{ type: 'text' as const, text: 'well?' }],
    model_calls: [call],
    expect,
    ...turn,
  }))
  return { agentserve: 'session-test/1', entity: 'a', tools: 'recorded', turns: whole, ...more }
}

function project(script: Script, scorers: UserConfig['scorers'] = {}, tools = {}): UserConfig {
  return { agents: { a: agent({ model: scriptedModel(script), tools }) }, scorers }
}

describe('the scores of a saved test', () => {
  test('are of the answers that the models of the config give now, turn by turn', async () => {
    const config = project(({ number }) => `answer ${number}`, { first: { contains: 'answer 1' } })
    const scored = await scoreSavedTest(config, saved([{}, {}]), { root })
    expect(scored).toMatchObject({ passed: false, problem: null, notes: [] })
    expect(scored.scores.map(({ turn, score, passed }) => ({ turn, score, passed }))).toEqual([
      { turn: 1, score: 1, passed: true },
      { turn: 2, score: 0, passed: false },
    ])
  })

  test('are of the recorded answers when models are not to be asked', async () => {
    const config = project(() => 'new', { kept: { contains: 'recorded' } })
    expect(await scoreSavedTest(config, saved([{}]), { root, models: 'recorded' })).toMatchObject({ passed: true })
  })

  test('come from the scorers of config, test and turn, of which the last counts, and false takes one away', async () => {
    const config = project(() => 'yes', { a: () => 0, b: () => 0, c: () => 1 })
    const test = saved([{ scorers: { b: { contains: 'yes' }, d: { exact: true } } }, {}], { scorers: { a: false } })
    const { scores } = await scoreSavedTest(config, test, { root })
    expect(scores.map(({ turn, scorer, score }) => `${turn}${scorer}${score}`)).toEqual([
      '1b1',
      '1c1',
      '1d0',
      '2b0',
      '2c1',
    ])
  })

  test('do not come without a scorer, and no model is asked', async () => {
    const model = scriptedModel('never')
    const scored = await scoreSavedTest({ agents: { a: agent({ model }) } }, saved([{}]), { root })
    expect(scored).toMatchObject({ passed: false, problem: expect.stringContaining('no scorer') })
    expect(model.calls).toEqual([])
  })

  test('a tool that is called in a new way is not run, and a note says so', async () => {
    let runs = 0
    const look = tool({ inputSchema: z.object({ at: z.string() }), execute: () => `seen ${++runs}` })
    const script: Script = ({ prompt }) =>
      prompt.at(-1)?.role === 'tool' ? 'I looked.' : { tool_calls: [{ name: 'look', input: { at: 'sea' } }] }
    const config = project(script, { says: { contains: 'looked' } }, { look })
    const scored = await scoreSavedTest(config, saved([{}]), { root })
    expect(scored).toMatchObject({
      passed: true,
      notes: ["turn 1: 'look' was called with an input that is not recorded"],
    })
    expect(runs).toBe(0)
    await scoreSavedTest(config, saved([{}]), { root, tools: 'live' })
    expect(runs).toBe(1)
  })

  test('stop where the run waits for something else than then', async () => {
    const waits = agent({
      async *run() {
        yield { type: 'input_required' as const, call_id: 'may', prompt: 'May I?' }
      },
    })
    const config = { agents: { a: waits }, scorers: { any: () => 1 } }
    const scored = await scoreSavedTest(config, saved([{}, {}]), { root })
    expect(scored).toMatchObject({ passed: false, problem: expect.stringContaining('turn 1: the run waits') })
    expect(scored.scores).toHaveLength(1)
  })
})

test('a test that passes some of its times is flaky, and its scores are means', async () => {
  const config = project(({ number }) => (number === 2 ? 'no' : 'yes'), { yes: { contains: 'yes' }, any: () => 0.5 })
  const outcome = await playTest(config, saved([{}]), { mode: 'scores', times: 3, root })
  expect(outcome).toMatchObject({ passed: false, flaky: true, passes: 2, times: 3, score: 0.583 })
  expect(outcome.score_by_scorer).toEqual({ yes: 0.667, any: 0.5 })
  expect(outcome.scores).toContainEqual(expect.objectContaining({ scorer: 'yes', score: 0, passed: false }))
})

test.each([
  [{ scorers: { x: { contain: 'y' } } }, /t\.json: scorers\.x has the unknown key 'contain'/],
  [{ scorers: [] }, /t\.json: scorers must be an object/],
  [{ turns: [{ input: [], model_calls: [], expect: {}, scorers: { x: 1 } }] }, /turns\.0\.scorers\.x must be a scorer/],
])('a file with a wrong scorer is refused with its path', (part, problem) => {
  const text = JSON.stringify({ ...saved([{}]), ...part })
  expect(() => parseSavedTest(text, 't.json')).toThrow(problem)
})
