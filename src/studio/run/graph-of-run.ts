import type { Step } from '../../core/steps/step.ts'
import type { RunSteps } from '../../core/steps/steps.ts'
import type { GraphEdge, GraphNode } from '../parts/layout/graph-layout.ts'

export interface RunGraphData {
  nodes: GraphNode[]
  edges: GraphEdge[]
}

/** What followed what in a run, as it ran: a node for each step. */
export function graphOf(run: RunSteps, urlOf: (seq: number) => string): RunGraphData {
  const data: RunGraphData = { nodes: [], edges: [] }
  const { root } = run
  if (root === undefined) return data
  const { byId } = run
  data.nodes.push(nodeOf(root, urlOf))
  flow(root, [root], { data, byId, urlOf })
  return data
}

/** The same with one node for all steps of one name, and how often each was gone through. */
export function aggregated({ nodes, edges }: RunGraphData): RunGraphData {
  const groups = Map.groupBy(nodes, ({ kind, label }) => `${kind} ${label}`)
  const groupOf = new Map(nodes.map(({ id, kind, label }) => [id, `${kind} ${label}`]))
  const between = edges.map(({ from, to }) => ({ from: groupOf.get(from) ?? '', to: groupOf.get(to) ?? '' }))
  const ways = Map.groupBy(between, ({ from, to }) => JSON.stringify([from, to]))
  const rank = ({ state }: GraphNode) => worst.indexOf(state)
  return {
    nodes: [...groups].map(([id, group]) => ({
      ...group.reduce((one, other) => (rank(other) <= rank(one) ? other : one)),
      id,
      ...(group.length > 1 && { count: group.length }),
    })),
    edges: [...ways.values()].map((group) => ({
      ...(group[0] as GraphEdge),
      ...(group.length > 1 && { label: `×${group.length}` }),
    })),
  }
}

const worst: readonly GraphNode['state'][] = ['failed', 'waiting', 'running', 'cancelled', 'done']

interface Flowing {
  data: RunGraphData
  byId: ReadonlyMap<string | undefined, Step>
  urlOf: (seq: number) => string
}

/** Adds what is inside a step, after `entry`. Gives what the next one follows. */
function flow(outer: Step, entry: readonly Step[], flowing: Flowing): readonly Step[] {
  const { data, byId, urlOf } = flowing
  const steps = outer.below.filter((step) => step.kind !== 'end')
  const exits = new Map<Step, readonly Step[]>()
  const followed = new Set<Step>()
  const isCode = steps.some(({ after }) => after !== undefined)
  // Of two that follow the same, the later one is where branches meet.
  const meeting = new Set(new Map(steps.map((step) => [step.after, step])).values())
  steps.forEach((step, place) => {
    const earlier = steps.slice(0, place)
    const before = isCode
      ? beforeInCode(step, meeting.has(step) ? earlier.filter((one) => !followed.has(one)) : [], byId)
      : beforeInTime(step, earlier)
    for (const one of before) followed.add(one)
    const from = before.length === 0 ? entry : before.flatMap((one) => exits.get(one) ?? [one])
    // A call of the model by which a member of the team was asked is the member.
    const isOnlyAround = step.kind === 'tool' && step.below.length === 1 && step.below[0]?.childRunId !== undefined
    if (isOnlyAround) {
      exits.set(step, flow(step, from, flowing))
      return
    }
    data.nodes.push(nodeOf(step, urlOf))
    for (const one of from) data.edges.push({ from: idOf(one), to: idOf(step) })
    exits.set(step, step.below.length === 0 ? [step] : flow(step, [step], flowing))
  })
  const last = steps.filter((step) => !followed.has(step)).flatMap((step) => exits.get(step) ?? [step])
  return last.length === 0 ? entry : last
}

function hasEnded(step: Step, before: Step): boolean {
  return step.end !== undefined && step.end.seq < before.seq
}

/** Those that had ended, without those that others of them followed. */
function beforeInTime(step: Step, earlier: readonly Step[]): Step[] {
  const ended = earlier.filter((one) => hasEnded(one, step))
  const last = ended.at(-1)
  return ended.filter((one) => last !== undefined && !hasEnded(one, last))
}

/** What the code of a workflow says it reached before, unless that still worked: then both are branches of the same. */
function beforeInCode(step: Step, open: readonly Step[], byId: ReadonlyMap<string | undefined, Step>): Step[] {
  const said = byId.get(step.after)
  let before = said
  while (before !== undefined && !hasEnded(before, step)) before = byId.get(before.after)
  if (before === undefined) return []
  // Branches that began with it, or before it, and have ended: the code waited for them all.
  const last = before
  const joined = said === before ? open.filter((one) => hasEnded(one, step) && began(one, last, byId)) : []
  return joined.length > 0 ? joined : [before]
}

/** Whether a step is, or follows, one that began no later than `last`. */
function began(step: Step, last: Step, byId: ReadonlyMap<string | undefined, Step>): boolean {
  for (let one: Step | undefined = step; one !== undefined; one = byId.get(one.after))
    if (one.seq <= last.seq) return true
  return false
}

function idOf({ seq }: Step): string {
  return String(seq)
}

function nodeOf(step: Step, urlOf: (seq: number) => string): GraphNode {
  const { seq, label, kind, state } = step
  return { id: idOf(step), label, kind: kind === 'wait' ? 'question' : kind, state, href: urlOf(seq) }
}
