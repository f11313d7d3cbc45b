import type { JSX } from 'preact'
import { isJsonObject, type Json } from '../../../core/json.ts'
import type { EventOf } from '../../../core/steps/step.ts'
import { Tool } from '../../parts/tool.tsx'

interface ToldToolsProps {
  tools: Json
  /** What the model called. */
  calls: readonly EventOf<'tool_call'>[]
}

/** The tools that a model was told of, with their schemas; those that it called come first. */
export function ToldTools({ tools, calls }: ToldToolsProps): JSX.Element {
  if (!Array.isArray(tools) || tools.length === 0) return <p>No tools.</p>
  const told = tools.map((tool) => {
    const about = isJsonObject(tool) ? tool : { name: String(tool) }
    const name = String(about.name ?? about.id ?? 'tool')
    return { about, name, count: calls.filter((call) => call.name === name).length }
  })
  told.sort((one, other) => Number(other.count > 0) - Number(one.count > 0))
  return (
    <ul class="plain">
      {told.map(({ about, name, count }) => (
        <Tool key={name} name={name} description={about.description} schema={about.inputSchema ?? about.args}>
          {count > 0 && <span class="mark">called{count === 1 ? '' : ` ${count} times`}</span>}
        </Tool>
      ))}
    </ul>
  )
}
