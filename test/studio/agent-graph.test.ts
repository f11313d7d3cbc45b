import { expect, test } from 'vitest'
import { graphOfRun, graphOfTeam } from '../../src/studio/agents/graph-of.ts'
import type { Agent, AgentConfig } from '../../src/wire/agent.ts'
import type { RunEvent } from '../../src/wire/event.ts'

const desk = { id: 'desk', kind: 'team' } as Agent
const waysOf = ({ edges }: { edges: { from: string; to: string }[] }) => edges.map(({ from, to }) => `${from} → ${to}`)

test.each([
  ['sequence', ['desk → 0 ann', '0 ann → 1 ben', '1 ben → 2 ann']],
  ['parallel', ['desk → 0 ann', 'desk → 1 ben', 'desk → 2 ann']],
])('in mode %s members follow each other or the team', (mode, ways) => {
  const config = { mode, members: ['ann', 'ben', 'ann'] } as AgentConfig
  const graph = graphOfTeam(desk, config, (id) => (id === 'ann' ? `/agents/${id}` : undefined))
  expect(waysOf(graph)).toEqual(ways)
  expect(graph.nodes.map(({ href }) => href)).toEqual([undefined, '/agents/ann', undefined, '/agents/ann'])
})

test('steps follow what the code did before; what was answered is done, and a failed step says so', () => {
  const event = (seq: number, type: string, fields: object) => ({ seq, type, ...fields }) as RunEvent
  const graph = graphOfRun(
    'report',
    [
      event(1, 'run_start', {}),
      event(2, 'step_start', { step_id: 'a', name: 'facts' }),
      event(3, 'step_end', { step_id: 'a', status: 'completed' }),
      event(4, 'step_start', { step_id: 'b', name: 'one', after: 'a' }),
      event(5, 'step_start', { step_id: 'c', name: 'two', after: 'a', kind: 'ask' }),
      event(6, 'step_start', { step_id: 'd', name: 'inner', parent_id: 'b' }),
      event(7, 'step_end', { step_id: 'b', status: 'failed' }),
      event(8, 'input_required', { call_id: 'q', prompt: 'Publish?', after: 'c' }),
      event(9, 'run_resumed', { from: 'input_required' }),
    ],
    (seq) => `#${seq}`,
  )
  expect(waysOf(graph)).toEqual([' → a', 'a → b', 'a → c', 'b → d', 'c → q'])
  expect(graph.nodes.map(({ kind, state, href }) => [kind, state, href])).toEqual([
    ['workflow', undefined, undefined],
    ['step', 'done', '#2'],
    ['step', 'failed', '#4'],
    ['agent', 'running', '#5'],
    ['step', 'running', '#6'],
    ['question', 'done', '#8'],
  ])
})
