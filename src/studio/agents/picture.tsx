import type { JSX } from 'preact'
import { useMemo } from 'preact/hooks'
import type { Agent } from '../../wire/agent.ts'
import { Graph } from '../parts/graph.tsx'
import { Status } from '../parts/status.tsx'
import type { Studio } from '../state/studio.ts'
import { type AgentGraph, graphOfAgent, graphOfRun, graphOfTeam } from './graph-of.ts'
import type { LastRun, OpenedAgent } from './opened-agent.ts'

interface PictureProps {
  studio: Studio
  opened: OpenedAgent
  agent: Agent
}

/** Who a team asks, how a workflow went the last time, what an agent can use. */
export function Picture({ studio, opened, agent }: PictureProps): JSX.Element {
  const last = opened.lastRun.value
  const agents = studio.agents.value
  const mayKnow = studio.may('knowledge:read')
  const graph = useMemo((): AgentGraph | undefined => {
    const urlOf = (agentId: string) =>
      agents.some(({ id }) => id === agentId) ? studio.urlOf({ page: 'agents', agentId }) : undefined
    if (agent.kind === 'team') return agent.config === undefined ? undefined : graphOfTeam(agent, agent.config, urlOf)
    if (agent.kind === 'agent')
      return graphOfAgent(agent, mayKnow ? studio.urlOf({ page: 'knowledge', query: {} }) : undefined)
    if (last === undefined || last === null) return undefined
    const { session_id: sessionId, run_id: runId } = last.run
    return graphOfRun(agent.id, last.events, (seq) =>
      studio.urlOf({ page: 'chats', sessionId, runId, seq, filter: {} }),
    )
  }, [studio, agent, agents, last, mayKnow])
  return (
    <>
      {agent.kind === 'workflow' && <AboutRun studio={studio} last={last} />}
      {graph && graph.nodes.length > 1 && (
        <Graph nodes={graph.nodes} edges={graph.edges} label={`Graph of ${agent.id}`} />
      )}
    </>
  )
}

function AboutRun({ studio, last }: { studio: Studio; last: LastRun | null | undefined }): JSX.Element | null {
  if (last === undefined) return null
  if (last === null) return <p>It has not run yet. Its steps are shown after its first run.</p>
  const { session_id: sessionId, run_id: runId, status } = last.run
  const isUnderWay = status === 'running' || status === 'queued'
  return (
    <p>
      <Status status={status} />{' '}
      <a href={studio.urlOf({ page: 'chats', sessionId, runId, filter: {} })}>Its last run</a>
      {isUnderWay ? ' is under way. Its steps are shown when it pauses or ends.' : ''}
    </p>
  )
}
