import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { UserConfig } from '../../src/config/types.ts'
import type { RunRecord } from '../../src/core/run.ts'
import { agent } from '../../src/runnables/agent/agent.ts'
import { team } from '../../src/runnables/team/team.ts'
import { tool } from '../../src/runnables/tools/tool.ts'
import { workflow } from '../../src/runnables/workflow/workflow.ts'
import { playSavedTest } from '../../src/testing/play.ts'
import { openWith, type RunResult, type TestAnswer, type TestProject } from '../../src/testing/project.ts'
import { parseSavedTest, type RunToSave, type SavedTest, toSavedTest } from '../../src/testing/saved-test.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'

const root = import.meta.dirname

async function toSave(project: TestProject, runId: string, events: RunResult['events']): Promise<RunToSave> {
  const { body } = await project.inject({ method: 'GET', url: `/api/v1/runs/${runId}` })
  let text = ''
  for await (const chunk of body) text += Buffer.from(chunk).toString()
  const members: RunToSave[] = []
  for (const event of events) {
    if (event.type !== 'step_start' || event.child_run_id === undefined) continue
    members.push(await toSave(project, event.child_run_id, await project.events(event.child_run_id)))
  }
  return { run: JSON.parse(text) as RunRecord, events, members }
}

/** A turn that pauses, with what a person answers each time. */
async function turns(config: UserConfig, ...answers: ((result: RunResult) => TestAnswer)[]): Promise<RunToSave[]> {
  await using project = await openWith(config, root, undefined)
  let result = await project.run('tested', 'go')
  for (const answer of answers) {
    expect(result.waiting).not.toEqual([])
    result = await project.resume(result.run_id, answer(result))
  }
  expect(result).toMatchObject({ status: expect.stringMatching(/^(completed|cancelled)$/), waiting: [] })
  return [await toSave(project, result.run_id, result.events)]
}

/** As a file has it. */
async function saved(...talk: Parameters<typeof turns>): Promise<SavedTest> {
  return parseSavedTest(JSON.stringify(toSavedTest(await turns(...talk))), 'x.session.json')
}

const wiping = (wiped: string[]) =>
  tool({
    inputSchema: z.object({ disk: z.string() }),
    execute: ({ disk }) => {
      wiped.push(disk)
      return `wiped ${disk}`
    },
  })

const twoDisks = () =>
  scriptedModel({ tool_calls: ['a', 'b'].map((disk) => ({ name: 'wipe', input: { disk } })) }, 'Done as you said.')

const careful = (wiped: string[], model = scriptedModel()): UserConfig => ({
  agents: { tested: agent({ model, tools: { wipe: wiping(wiped) }, toolApproval: { wipe: 'user-approval' } }) },
})

const passes = { passed: true, differences: [], notes: [] }

describe('a saved test of a conversation that paused', () => {
  it('gives the approvals and refusals that were given, and runs no tool', async () => {
    const wiped: string[] = []
    const test = await saved(careful(wiped, twoDisks()), ({ waiting }) => ({
      answers: Object.fromEntries(
        waiting.map(({ call_id }, place) => [
          call_id ?? '',
          place === 0 ? { approved: true } : { approved: false, reason: 'keep it' },
        ]),
      ),
    }))
    expect(wiped).toEqual(['a'])
    expect(test.turns[0]?.pauses?.[0]?.map(({ kind, tool: name, answer }) => [kind, name, answer])).toEqual([
      ['approval', 'wipe', { approved: true }],
      ['approval', 'wipe', { approved: false, reason: 'keep it' }],
    ])
    expect(await playSavedTest(careful(wiped), test, { root })).toMatchObject(passes)
    expect(wiped).toEqual(['a'])
  })

  it('gives one decision for all to each of them', async () => {
    const test = await saved(careful([], twoDisks()), () => ({ approved: true }))
    expect(test.turns[0]?.expect.tool_calls.map(({ output }) => output)).toEqual(['wiped a', 'wiped b'])
    expect(await playSavedTest(careful([]), test, { root })).toMatchObject(passes)
  })

  it('gives a workflow its approvals, one after the other', async () => {
    const config = {
      workflows: {
        tested: workflow({
          async run({ approve, step }) {
            const first = await approve('draft', { text: 'one' })
            const done = await step('write', () => 'written')
            const second = await approve('publish', { done })
            return JSON.stringify([first, done, second])
          },
        }),
      },
    }
    const test = await saved(
      config,
      () => ({ approved: true, input: 'fine' }),
      () => ({ approved: true }),
    )
    expect(test.turns[0]?.pauses).toHaveLength(2)
    expect(test.turns[0]?.expect.content).toContain('fine')
    expect(await playSavedTest(config, test, { root })).toMatchObject(passes)
  })

  it('refuses for a person who refused, which ends a workflow', async () => {
    const config = {
      workflows: {
        tested: workflow({
          async run({ approve }) {
            await approve('publish')
            return 'published'
          },
        }),
      },
    }
    const test = await saved(config, () => ({ approved: false }))
    expect(test.turns[0]?.expect.status).toBe('cancelled')
    expect(await playSavedTest(config, test, { root })).toMatchObject(passes)
  })

  it('gives an input that an agent asked for', async () => {
    const asking = {
      agents: {
        tested: agent({
          async *run({ resumed }) {
            if (resumed === undefined) yield { type: 'input_required', prompt: 'Which city?' }
            else yield `It is ${resumed.input}.`
          },
        }),
      },
    }
    const asked = await saved(asking, () => ({ input: 'Oslo' }))
    expect(asked.turns[0]?.expect.content).toBe('It is Oslo.')
    expect(await playSavedTest(asking, asked, { root })).toMatchObject(passes)
  })

  it('answers two members of a team that ask at once', async () => {
    const config = (wiped: string[], models: ReturnType<typeof scriptedModel>[]): UserConfig => {
      const member = (place: number) =>
        agent({
          model: models[place] ?? scriptedModel('never'),
          tools: { wipe: wiping(wiped) },
          toolApproval: { wipe: 'user-approval' },
        })
      return { teams: { tested: team({ members: [member(0), member(1)], mode: 'parallel' }) } }
    }
    const one = (disk: string) =>
      scriptedModel({ tool_calls: [{ name: 'wipe', input: { disk } }] }, `${disk} is empty.`)
    const test = await saved(config([], [one('a'), one('b')]), ({ waiting }) => ({
      answers: Object.fromEntries(waiting.map(({ call_id }) => [call_id ?? '', { approved: true }])),
    }))
    expect(test.turns[0]?.pauses?.[0]).toHaveLength(2)
    const wiped: string[] = []
    expect(await playSavedTest(config(wiped, []), test, { root })).toMatchObject({ passed: true, differences: [] })
    expect(wiped).toEqual([])
  })

  it('tells what waits now and did not, and what waited and does not now', async () => {
    const test = await saved(careful([], twoDisks()), () => ({ approved: true }))
    const free = { agents: { tested: agent({ model: scriptedModel(), tools: { wipe: wiping([]) } }) } }
    const { passed, differences } = await playSavedTest(free, test, { root })
    expect(passed).toBe(false)
    const [first] = differences
    expect(first).toMatchObject({ turn: 1, what: 'waiting', actual: [] })
    expect(first?.expected).toHaveLength(2)

    const { pauses: _, ...turn } = test.turns[0] as SavedTest['turns'][number]
    const never = await playSavedTest(careful([]), { ...test, turns: [turn] }, { root })
    expect(never.differences.map(({ what }) => what)).toEqual(expect.arrayContaining(['waiting', 'status']))
  })

  it('can not be made of a run with tools of its caller', async () => {
    const [run] = await turns(careful([], twoDisks()), () => ({ approved: true }))
    if (run === undefined) throw new Error('no run')
    const events = run.events.map((event) =>
      event.type === 'input_required' ? { ...event, kind: 'tool' as const } : event,
    )
    expect(() => toSavedTest([{ ...run, events }])).toThrow('has tools of its caller')
  })

  it('refuses a file whose pauses are none', () => {
    const turn = { input: [], model_calls: [], expect: {} }
    for (const pauses of [
      1,
      [1],
      [[1]],
      [[{ prompt: 'x' }]],
      [[{ prompt: 1, answer: {} }]],
      [[{ prompt: 'x', answer: [] }]],
    ]) {
      const text = JSON.stringify({ agentserve: 'session-test/1', entity: 'a', turns: [{ ...turn, pauses }] })
      expect(() => parseSavedTest(text, 'x')).toThrow('is not a file written by')
    }
  })
})
