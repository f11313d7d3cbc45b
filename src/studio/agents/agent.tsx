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

/** How it is set up, as far as the key may know, and its sessions. The graph has the members of a team. */
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
      {description && <p dir="auto">{description}</p>}
      <dl class="facts">
        <Fact name="Id">
          {id} <CopyButton text={id} label="Copy the id" />
        </Fact>
        <Fact name="Model">{modelOf(agent)}</Fact>
        {config && <Facts studio={studio} config={config} />}
      </dl>
      {config?.instructions && (
        <>
          <h4>Instructions</h4>
          <pre class="boxed instructions" dir="auto">
            {config.instructions}
          </pre>
        </>
      )}
      <Tools tools={config?.tools ?? agent.tools} />
      {config?.input_schema && <JsonTree name="input schema" value={config.input_schema as Json} open />}
      {config?.output_schema && <JsonTree name="output schema" value={config.output_schema as Json} open />}
      <Schedules studio={studio} agentId={id} />
      <SessionsOf studio={studio} opened={opened} agent={agent} />
    </section>
  )
}

function Facts({ studio, config }: { studio: Studio; config: AgentConfig }): JSX.Element {
  const { knowledge, memory, source } = config
  return (
    <>
      <Fact name="Fallback models">{config.fallback_models.join(', ')}</Fact>
      <Fact name="Mode">{config.mode}</Fact>
      <Fact name="Knowledge">{knowledge && <KnowledgeFact studio={studio} knowledge={knowledge} />}</Fact>
      <Fact name="Memory">{memory && memoryOf(memory)}</Fact>
      <Fact name="Guardrails">{guardrailsOf(config.guardrails)}</Fact>
      <Fact name="Hooks">{config.hooks.join(', ')}</Fact>
      <Fact name="Source">
        {source && <code>{source.line === null ? source.file : `${source.file}:${source.line}`}</code>}
      </Fact>
      <Fact name="Version">{config.version && <code>{config.version}</code>}</Fact>
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
              {status && <Status status={status} short />} <Moment at={updated_at} />
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
  return [...input.map((name) => `input: ${name}`), ...output.map((name) => `output: ${name}`)].join(', ')
}

function inOneLine(facts: readonly (string | number | false | null | undefined)[]): string {
  return facts.filter(Boolean).join(', ')
}
