import type { JSX } from 'preact'
import type { Json } from '../../core/json.ts'
import type { Agent, AgentConfig } from '../../wire/agent.ts'
import { JsonTree } from '../parts/json-tree.tsx'

type Tool = Agent['tools'][number] | AgentConfig['tools'][number]

const approvals = {
  never: '',
  always: 'asks before each call',
  sometimes: 'may ask before a call',
  denied: 'is never called',
} as const

/** What it can call. Schemas and approval only where the key may read the configuration. */
export function Tools({ tools }: { tools: readonly Tool[] }): JSX.Element | null {
  if (tools.length === 0) return null
  return (
    <>
      <h4>
        {tools.length} {tools.length === 1 ? 'tool' : 'tools'}
      </h4>
      <ul class="plain">
        {tools.map((tool) => (
          <li key={tool.name} class="entry">
            <strong dir="auto">{tool.name}</strong>
            {'approval' in tool && approvals[tool.approval] !== '' ? (
              <span class="asks"> {approvals[tool.approval]}</span>
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
