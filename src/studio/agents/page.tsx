import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { moveFocus } from '../parts/layout/list-focus.ts'
import { useListening } from '../state/listening.ts'
import type { Studio } from '../state/studio.ts'
import { AgentView } from './agent.tsx'
import { OpenedAgent } from './opened-agent.ts'
import { Picture } from './picture.tsx'

const kinds = ['agent', 'team', 'workflow'] as const

/** The agents, teams and workflows, and how the one that is chosen is set up. */
export function AgentsPage({ studio }: { studio: Studio }): JSX.Element | null {
  const address = studio.address.value
  if (address.page !== 'agents') return null
  const agents = studio.agents.value
  const { agentId } = address
  if (agents.length === 0 && agentId === undefined)
    return (
      <div class="middle">
        <h2>No agents</h2>
        <p>
          Add one to <code>agent.config.ts</code>.
        </p>
      </div>
    )
  return (
    <div class="library" data-depth={agentId === undefined ? 'list' : 'agent'}>
      <h2 class="hidden">Agents</h2>
      <Names studio={studio} agentId={agentId} />
      {agentId === undefined ? (
        <p class="library-main more">Choose an agent to see how it is set up.</p>
      ) : (
        <Opened key={agentId} studio={studio} agentId={agentId} />
      )}
    </div>
  )
}

function Names({ studio, agentId }: { studio: Studio; agentId: string | undefined }): JSX.Element {
  const agents = studio.agents.value
  return (
    <nav class="names library-list" aria-label="Agents" onKeyDown={(event) => moveFocus(event, 'a')}>
      {kinds.map((kind) => {
        const own = agents.filter((agent) => agent.kind === kind)
        return own.length === 0 ? null : (
          <section key={kind} aria-label={`${kind}s`}>
            <h3 class="more list-bar">{`${kind}s`}</h3>
            <ul class="plain">
              {own.map(({ id, name, description }) => (
                <li key={id}>
                  <a
                    class="agent-link"
                    href={studio.urlOf({ page: 'agents', agentId: id })}
                    aria-current={id === agentId ? 'page' : undefined}
                  >
                    <strong dir="auto">{id}</strong>
                    <span class="more" dir="auto">
                      {description ?? name ?? ''}
                    </span>
                  </a>
                </li>
              ))}
            </ul>
          </section>
        )
      })}
    </nav>
  )
}

function Opened({ studio, agentId }: { studio: Studio; agentId: string }): JSX.Element {
  const [opened] = useState(() => new OpenedAgent(studio, agentId))
  const agents = studio.agents.value
  // biome-ignore lint/correctness/useExhaustiveDependencies: after a reload there are other agents
  useEffect(() => opened.read(), [opened, agents])
  useListening(studio, opened)

  const agent = opened.agent.value
  const error = opened.error.value
  return (
    <>
      <section class="library-main" aria-label="Graph">
        <a class="back" href={studio.urlOf({ page: 'agents' })}>
          Back to the agents
        </a>
        {error && <p role="alert">{error}</p>}
        {agent ? (
          <Picture studio={studio} opened={opened} agent={agent} />
        ) : error ? null : (
          <p class="more appears">Reading…</p>
        )}
      </section>
      {agent && <AgentView studio={studio} opened={opened} agent={agent} />}
    </>
  )
}
