import type { Agent, AgentConfig } from '../../wire/agent.ts'
import type { RunEvent } from '../../wire/event.ts'
import type { GraphEdge, GraphNode } from '../parts/layout/graph-layout.ts'

export interface AgentGraph {
  nodes: GraphNode[]
  edges: GraphEdge[]
}

/** The members of a team as its mode asks them. `urlOf` gives the page of an agent; undefined where there is none. */
export function graphOfTeam(
  { id }: Agent,
  { members, mode }: AgentConfig,
  urlOf: (agentId: string) => string | undefined,
): AgentGraph {
  // A team may ask the same one twice.
  const asked = members.map((member, place) => ({
    id: `${place} ${member}`,
    label: member,
    kind: 'agent',
    href: urlOf(member),
  }))
  const before = (place: number) => (mode === 'sequence' ? asked[place - 1]?.id : undefined) ?? id
  return {
    nodes: [{ id, label: id, kind: 'team' }, ...asked],
    edges: asked.map(({ id: to }, place) => ({ from: before(place), to })),
  }
}

/** An agent with its tools and its knowledge. */
export function graphOfAgent({ id, kind, tools, knowledge }: Agent, knowledgeUrl: string | undefined): AgentGraph {
  const around: GraphNode[] = tools.map(({ name }) => ({ id: `tool ${name}`, label: name, kind: 'tool' }))
  if (knowledge) around.push({ id: 'knowledge', label: 'knowledge', kind: 'search', href: knowledgeUrl })
  return {
    nodes: [{ id: 'this', label: id, kind }, ...around],
    edges: around.map(({ id: to }) => ({ from: 'this', to })),
  }
}

/** The steps and questions of a workflow's run in the order of its code. `urlOf` gives the place of an event. */
export function graphOfRun(id: string, events: readonly RunEvent[], urlOf: (seq: number) => string): AgentGraph {
  const nodes = new Map<string, GraphNode>([['', { id: '', label: id, kind: 'workflow' }]])
  const edges = new Map<string, GraphEdge>()
  const lead = (from: string | undefined, to: string) => {
    const known = from !== undefined && nodes.has(from) ? from : ''
    edges.set(JSON.stringify([known, to]), { from: known, to })
  }
  for (const event of events) {
    if (event.type === 'step_start') {
      const { step_id, name, seq, after, parent_id, kind } = event
      if (nodes.has(step_id)) continue
      nodes.set(step_id, {
        id: step_id,
        label: name,
        kind: kind === 'ask' ? 'agent' : 'step',
        state: 'running',
        href: urlOf(seq),
      })
      lead(after ?? parent_id, step_id)
    } else if (event.type === 'step_end') {
      const node = nodes.get(event.step_id)
      if (node !== undefined) node.state = event.status === 'completed' ? 'done' : event.status
    } else if (event.type === 'input_required' && event.call_id !== undefined) {
      const { call_id, prompt, seq, after } = event
      const known = nodes.get(call_id)
      // A step of the run inside asks: its own node waits.
      if (known !== undefined) known.state = 'waiting'
      else {
        nodes.set(call_id, { id: call_id, label: prompt, kind: 'question', state: 'waiting', href: urlOf(seq) })
        lead(after, call_id)
      }
    } else if (event.type === 'run_resumed')
      for (const node of nodes.values()) if (node.state === 'waiting') node.state = 'done'
  }
  return { nodes: [...nodes.values()], edges: [...edges.values()] }
}
