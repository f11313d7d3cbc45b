import type { JSX } from 'preact'
import type { Json } from '../../core/json.ts'
import { counted } from '../../core/text/format.ts'
import type { Agent, AgentConfig } from '../../wire/agent.ts'
import { JsonTree } from '../parts/json-tree.tsx'

type Tool = Agent['tools'][number] | AgentConfig['tools'][number]

/** What it can call. Schemas and approval only where the key may read the configuration. */
export function Tools({ tools }: { tools: readonly Tool[] }): JSX.Element | null {
  if (tools.length === 0) return null
  return (
    <>
      <h4>{counted(tools.length, 'tool')}</h4>
      <ul class="plain">
        {tools.map((tool) => (
          <li key={tool.name} class="entry">
            <strong dir="auto">{tool.name}</strong>
            {'approval' in tool && tool.approval !== 'never' ? (
              <span class="asks"> approval: {tool.approval}</span>
            ) : null}
            {tool.description === null ? null : <p dir="auto">{tool.description}</p>}
            {!('input_schema' in tool) ? null : tool.input_schema === null ? (
              <p class="more">Its input is known when it is connected.</p>
            ) : (
              <JsonTree name="input" value={tool.input_schema as Json} />
            )}
          </li>
        ))}
      </ul>
    </>
  )
}
