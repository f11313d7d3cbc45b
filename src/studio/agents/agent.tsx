import type { JSX } from 'preact'
import { useRef } from 'preact/hooks'
import type { Json } from '../../core/json.ts'
import { counted } from '../../core/text/format.ts'
import type { Agent, AgentConfig } from '../../wire/agent.ts'
import { CopyButton } from '../parts/copy.tsx'
import { Fact } from '../parts/fact.tsx'
import { JsonTree } from '../parts/json-tree.tsx'
import { Moment } from '../parts/moment.tsx'
import { Status } from '../parts/status.tsx'
import { useFocusOfHidden } from '../parts/take-focus.ts'
import type { Studio } from '../state/studio.ts'
import type { OpenedAgent } from './opened-agent.ts'
import { Schedules } from './schedules.tsx'
import { Tools } from './tools.tsx'

interface AgentViewProps {
  studio: Studio
  opened: OpenedAgent
  agent: Agent
}

/** How it is set up, as far as the key may know, and its sessions. */
export function AgentView({ studio, opened, agent }: AgentViewProps): JSX.Element {
  const { id, kind, name, description, config } = agent
  const heading = useRef<HTMLHeadingElement>(null)
  useFocusOfHidden(heading)
  return (
    <section class="library-side" aria-label={`${kind} ${id}`}>
      <div class="bar">
        <h3 dir="auto" ref={heading} tabIndex={-1}>
          {name ?? id}
        </h3>
        <span class="more">{kind}</span>
        <a href={studio.urlOf({ page: 'chats', filter: { agent: id } })}>New chat</a>
      </div>
      {description === null ? null : <p dir="auto">{description}</p>}
      {opened.error.value === '' ? null : <p role="alert">{opened.error.value}</p>}
      <dl class="facts">
        <Fact name="Id">
          {id} <CopyButton text={id} label="Copy the id" />
        </Fact>
        <Fact name="Model">{modelOf(agent)}</Fact>
        {config === undefined ? null : <Facts studio={studio} config={config} />}
      </dl>
      {config === undefined || config.instructions === null ? null : (
        <>
          <h4>Instructions</h4>
          <pre class="boxed instructions" dir="auto">
            {config.instructions}
          </pre>
        </>
      )}
      <Tools tools={config?.tools ?? agent.tools} />
      {config === undefined ? null : <Schemas config={config} />}
      <Schedules studio={studio} agentId={id} />
      <SessionsOf studio={studio} opened={opened} agent={agent} />
    </section>
  )
}

function Facts({ studio, config }: { studio: Studio; config: AgentConfig }): JSX.Element {
  const { fallback_models: fallbacks, knowledge, memory, guardrails, hooks, members, mode, source, version } = config
  const agents = studio.agents.value
  return (
    <>
      <Fact name="Fallback models">{inOneLine(fallbacks)}</Fact>
      <Fact name="Mode">{mode}</Fact>
      <Fact name="Members">
        {members.length === 0 ? null : (
          <ul class="plain">
            {[...new Set(members)].map((member) => (
              <li key={member}>
                {agents.some(({ id }) => id === member) ? (
                  <a class="row-link" href={studio.urlOf({ page: 'agents', agentId: member })}>
                    {member}
                  </a>
                ) : (
                  member
                )}
              </li>
            ))}
          </ul>
        )}
      </Fact>
      <Fact name="Knowledge">
        {knowledge === null ? null : <KnowledgeFact studio={studio} knowledge={knowledge} />}
      </Fact>
      <Fact name="Memory">{memory === null ? null : memoryOf(memory)}</Fact>
      <Fact name="Guardrails">{guardrailsOf(guardrails)}</Fact>
      <Fact name="Hooks">{inOneLine(hooks)}</Fact>
      <Fact name="Source">
        {source === null ? null : <code>{source.line === null ? source.file : `${source.file}:${source.line}`}</code>}
      </Fact>
      <Fact name="Version">{version === null ? null : <code>{version}</code>}</Fact>
    </>
  )
}

function KnowledgeFact({ studio, knowledge }: { studio: Studio; knowledge: NonNullable<AgentConfig['knowledge']> }) {
  const { mode, limit, filters, collection } = knowledge
  const query = {
    limit,
    filters: filters === null ? undefined : JSON.stringify(filters),
    collection: collection ?? undefined,
  }
  const facts = [
    mode === 'first' ? 'searched before each answer' : 'searched by a tool',
    counted(limit, 'passage'),
    query.filters && `filters ${query.filters}`,
    collection && `collection ${collection}`,
  ]
  return (
    <>
      {inOneLine(facts)} <a href={studio.urlOf({ page: 'knowledge', query })}>Search as it does</a>
    </>
  )
}

function Schemas({ config: { output_schema: output, input_schema: input } }: { config: AgentConfig }): JSX.Element {
  return (
    <>
      {input === null ? null : <JsonTree name="input schema" value={input as Json} open />}
      {output === null ? null : <JsonTree name="output schema" value={output as Json} open />}
    </>
  )
}

function SessionsOf({ studio, opened, agent }: AgentViewProps): JSX.Element | null {
  const sessions = opened.sessions.value
  if (sessions === undefined) return null
  return (
    <>
      <h4>Newest sessions</h4>
      {sessions.length === 0 ? (
        <p class="more">None yet.</p>
      ) : (
        <ul class="plain">
          {sessions.map(({ session_id: sessionId, name, title, status, updated_at }) => (
            <li key={sessionId} class="entry">
              <a href={studio.urlOf({ page: 'chats', sessionId, filter: { agent: agent.id } })} dir="auto">
                {name ?? title ?? sessionId}
              </a>{' '}
              {status === null ? null : <Status status={status} short />} <Moment at={updated_at} />
            </li>
          ))}
        </ul>
      )}
    </>
  )
}

function modelOf({ model, kind }: Agent): string {
  if (model === null) return kind === 'agent' ? 'none: code answers' : 'none of its own'
  return model === 'offline' ? 'offline: it quotes the knowledge base' : model
}

function memoryOf({ runs, tokens, summary, user }: NonNullable<AgentConfig['memory']>): string {
  return inOneLine([
    counted(runs, 'earlier run'),
    tokens && `at most ${counted(tokens, 'token')}`,
    summary && 'a summary',
    user && 'facts about its user',
  ])
}

function guardrailsOf({ input, output }: AgentConfig['guardrails']): string {
  return inOneLine([...input.map((name) => `input: ${name}`), ...output.map((name) => `output: ${name}`)])
}

function inOneLine(facts: readonly (string | number | false | null | undefined)[]): string {
  return facts.filter(Boolean).join(', ')
}
