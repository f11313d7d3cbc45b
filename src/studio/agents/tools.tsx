import type { JSX } from 'preact'
import type { Json } from '../../core/json.ts'
import { counted } from '../../core/text/format.ts'
import type { Agent, AgentConfig } from '../../wire/agent.ts'
import { Tool } from '../parts/tool.tsx'

type AnyTool = Agent['tools'][number] | AgentConfig['tools'][number]

/** What it can call. Schemas and approval only where the key may read the configuration. */
export function Tools({ tools }: { tools: readonly AnyTool[] }): JSX.Element | null {
  if (tools.length === 0) return null
  return (
    <>
      <h4>{counted(tools.length, 'tool')}</h4>
      <ul class="plain">
        {tools.map((tool) => {
          const { approval = 'never', input_schema: schema } = tool as Partial<AgentConfig['tools'][number]>
          return (
            <Tool key={tool.name} {...tool} schema={schema as Json | undefined}>
              {approval !== 'never' && <span class="asks"> approval: {approval}</span>}
            </Tool>
          )
        })}
      </ul>
    </>
  )
}
