import { describe, expect, test } from 'vitest'
import { RunSteps } from '../../src/core/steps/steps.ts'
import { layOut } from '../../src/studio/parts/layout/graph-layout.ts'
import { aggregated, graphOf, type RunGraphData } from '../../src/studio/run/graph-of-run.ts'
import type { RunEvent } from '../../src/wire/event.ts'

type Body = Record<string, unknown>
const step = (step_id: string, more: Body = {}): Body => ({ type: 'step_start', step_id, name: step_id, ...more })
const done = (step_id: string): Body => ({ type: 'step_end', step_id, status: 'completed', duration_ms: 0 })
const call = (call_id: string): Body => ({ type: 'model_call_start', call_id, model: 'm' })
const called = (call_id: string): Body => ({
  type: 'model_call_end',
  call_id,
  usage: null,
  finish_reason: 'stop',
  duration_ms: 0,
})
const tool = (call_id: string, name: string): Body => ({ type: 'tool_call', call_id, name, input: {} })
const gave = (call_id: string): Body => ({ type: 'tool_result', call_id, name: '', duration_ms: 0 })

/** All at one moment: only the order counts. */
function ran(...bodies: Body[]): RunSteps {
  const steps = new RunSteps()
  const all = [{ type: 'run_start', session_id: 's', entity_id: 'top', entity_kind: 'workflow' }, ...bodies]
  all.forEach((body, place) => {
    steps.add({ run_id: 'r', seq: place + 1, at: '2026-01-01T00:00:00.000Z', ...body } as unknown as RunEvent)
  })
  return steps
}
const graph = (...bodies: Body[]) => graphOf(ran(...bodies), (seq) => `/${seq}`)
function edgesOf({ nodes, edges }: RunGraphData): string[] {
  const labels = new Map(nodes.map(({ id, label }) => [id, label]))
  return edges.map(
    ({ from, to, label }) => `${labels.get(from)}→${labels.get(to)}${label === undefined ? '' : ` ${label}`}`,
  )
}

describe('the graph of a run', () => {
  test('of an agent is model, tools, model; tools of one answer are beside each other', () => {
    const data = graph(
      call('1'),
      called('1'),
      tool('a', 'x'),
      tool('b', 'y'),
      gave('b'),
      gave('a'),
      call('2'),
      called('2'),
    )
    expect(edgesOf(data)).toEqual(['top→m', 'm→x', 'm→y', 'x→m', 'y→m'])
    expect(data.nodes.map(({ kind, href }) => `${kind} ${href}`)).toEqual([
      'run /1',
      'model /2',
      'tool /4',
      'tool /5',
      'model /8',
    ])
  })

  test('of a call that a person allowed has the question beside the call', () => {
    const asked = { type: 'input_required', call_id: 'a', tool: 'x', prompt: 'Sure?' }
    const data = graph(
      tool('a', 'x'),
      asked,
      { type: 'run_resumed', from: 'input_required', approved: true },
      gave('a'),
    )
    expect(data.nodes.map(({ kind, label, state }) => `${kind} ${label} ${state}`)).toEqual([
      'run top running',
      'tool x done',
      'question x done',
    ])
  })

  test('of an agent that searches first is search, then model', () => {
    const search = { type: 'retrieval', query: 'hours', results: [], collection: 'default' }
    expect(edgesOf(graph(search, call('1'), called('1')))).toEqual(['top→hours', 'hours→m'])
    expect(edgesOf(graph(search, { ...search, query: 'prices' }, call('1'), called('1')))).toEqual([
      'top→hours',
      'hours→prices',
      'prices→m',
    ])
  })

  test('of a workflow has its branches, which meet where the code waited for them', () => {
    const data = graph(
      ...[step('first'), done('first'), step('a1', { after: 'first' }), step('b1', { after: 'a1' })],
      ...[done('a1'), step('a2', { after: 'a1' }), done('a2'), done('b1'), step('b2', { after: 'b1' }), done('b2')],
      ...[step('last', { after: 'b1' }), done('last')],
    )
    const ways = ['top→first', 'first→a1', 'first→b1', 'a1→a2', 'b1→b2', 'a2→last', 'b2→last']
    expect(edgesOf(data)).toEqual(ways)
  })

  test('of a loop is each time around, and by name one node that leads to itself', () => {
    const data = graph(
      ...[step('w'), done('w'), { ...step('c1', { after: 'w' }), name: 'check' }, done('c1')],
      ...[
        { ...step('w2', { after: 'c1' }), name: 'w' },
        done('w2'),
        { ...step('c2', { after: 'w2' }), name: 'check' },
        done('c2'),
      ],
    )
    expect(edgesOf(data)).toEqual(['top→w', 'w→check', 'check→w', 'w→check'])
    const byName = aggregated(data)
    expect(byName.nodes.map(({ label, count }) => [label, count])).toEqual([
      ['top', undefined],
      ['w', 2],
      ['check', 2],
    ])
    expect(edgesOf(byName)).toEqual(['top→w', 'w→check ×2', 'check→w'])
    expect(layOut(byName.nodes, byName.edges).edges).toHaveLength(3)
  })

  test('goes into a step that has steps, and on from its last ones', () => {
    const data = graph(
      step('out'),
      step('in', { parent_id: 'out' }),
      done('in'),
      done('out'),
      step('next', { after: 'out' }),
    )
    expect(edgesOf(data)).toEqual(['top→out', 'out→in', 'in→next'])
    expect(data.nodes.map(({ state }) => state)).toEqual(['running', 'done', 'done', 'running'])
  })

  test('of a team that a model leads has the members, not the tools that stand for them', () => {
    const member = { ...step('s1'), name: 'left', child_run_id: 'run_2' }
    const data = graph(call('1'), called('1'), tool('t', 'ask_left'), member, done('s1'), gave('t'), call('2'))
    expect(edgesOf(data)).toEqual(['top→m', 'm→left', 'left→m'])
  })

  test('of a team in parallel has its members beside each other', () => {
    const of = (name: string) => ({ ...step(name), child_run_id: `run_${name}` })
    expect(edgesOf(graph(of('left'), of('right'), done('right'), done('left')))).toEqual(['top→left', 'top→right'])
  })

  test('says the worst state of steps of one name', () => {
    const data = graph(tool('a', 'x'), { ...gave('a'), error: { message: 'no' } }, tool('b', 'x'), gave('b'))
    expect(aggregated(data).nodes.at(-1)).toMatchObject({ label: 'x', count: 2, state: 'failed', href: '/2' })
  })
})
