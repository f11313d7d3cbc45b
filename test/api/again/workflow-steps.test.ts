import { expect, test } from 'vitest'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { team } from '../../../src/runnables/team/team.ts'
import { workflow } from '../../../src/runnables/workflow/workflow.ts'
import { bodiesOf, office, serveAgain, takenOver } from './fixture.ts'

async function opened() {
  const made: string[] = []
  const { entity, made: tools } = office()
  const steps = workflow({
    run: async ({ step, ask, text }) => {
      const one = await step('one', () => `one${made.push('one')} of ${text}`)
      const two = await step('two', () => `two${made.push('two')}`)
      const { text: answer } = await ask('office', `after ${two}`)
      const three = await step('three', () => `three${made.push('three')}`)
      return [one, two, answer, three].join(' | ')
    },
  })
  const code = agent({ run: ({ text }) => `code${made.push('code')} ${text}` })
  const server = await serveAgain({ steps, office: entity, code, pair: team({ members: ['code', 'office'] }) })
  const run = async (id: string) => {
    const { json, runId = '' } = await server.ask(id, 'x')
    expect(json.status).toBe('completed')
    const events = await server.events(runId)
    made.length = 0
    tools.length = 0
    const place = (name: string) => events.find((event) => event.type === 'step_start' && event.name === name)?.seq ?? 0
    return { json, runId, events, place, before: (seq: number) => takenOver(events.filter((event) => event.seq < seq)) }
  }
  return { server, made, tools, run }
}

test.each(['one', 'two', 'three'])(
  'a workflow from step %s: steps before are the record, later ones wait',
  async (name) => {
    const { server, made, tools, run: first } = await opened()
    await using _ = server
    const { runId, place, before, json } = await first('steps')
    const from = place(name)
    const { id } = await server.again(runId, { from })
    let { run, events } = await server.ended(id)
    const known = before(from)
    expect(bodiesOf(events).slice(0, known.length)).toEqual(known)
    for (let waits = 0; run.status === 'input_required' && waits < 10; waits++) {
      const { kind, prompt, tool } = run.waiting[0]
      expect(kind).toBe('approval')
      const asked = /step '(\w+)'/.exec(prompt)?.[1] ?? tool
      expect([...made, ...tools].some((one) => one.startsWith(asked))).toBe(false)
      expect((await server.resume(id, { approved: true })).status).toBe(200)
      ;({ run, events } = await server.ended(id))
    }
    expect(run.status).toBe('completed')
    expect(made).toEqual(['one', 'two', 'three'].slice(['one', 'two', 'three'].indexOf(name)))
    expect(tools).toEqual(name === 'three' ? [] : ['calendar mon', 'refund 5'])
    expect(run.content.split(' | ')).toHaveLength(json.content.split(' | ').length)
  },
)

test('recorded: the record answers all steps and tools of a workflow', async () => {
  const { server, made, tools, run: first } = await opened()
  await using _ = server
  const { runId, json } = await first('steps')
  const { id } = await server.again(runId, { after: 'recorded' })
  const { run } = await server.ended(id)
  expect(run).toMatchObject({ status: 'completed', content: json.content })
  expect([...made, ...tools]).toEqual([])
})

test('a team from its second member: the first answers from the record', async () => {
  const { server, made, tools, run: first } = await opened()
  await using _ = server
  const { runId, place, before } = await first('pair')
  const from = place('office')
  const { id } = await server.again(runId, { from })
  const { run, events } = await server.ended(id)
  const known = before(from)
  expect(bodiesOf(events).slice(0, known.length)).toEqual(known)
  expect(run.waiting).toMatchObject([{ kind: 'approval', tool: 'calendar' }])
  expect([...made, ...tools]).toEqual([])
})

test('a member with code of its own waits before it begins', async () => {
  const { server, made, run: first } = await opened()
  await using _ = server
  const { runId, place } = await first('pair')
  const { id } = await server.again(runId, { from: place('code') })
  const { run } = await server.ended(id)
  expect(run.waiting).toMatchObject([{ kind: 'approval', prompt: expect.stringContaining("'code'") }])
  expect(made).toEqual([])
  await server.resume(id, { approved: true })
  const now = await server.ended(id)
  expect(made).toEqual(['code'])
  expect(now.run.waiting).toMatchObject([{ tool: 'calendar' }])
})
