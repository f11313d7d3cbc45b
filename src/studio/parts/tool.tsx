import type { ComponentChildren, JSX } from 'preact'
import type { Json } from '../../core/json.ts'
import { JsonTree } from './json-tree.tsx'

interface ToolProps {
  name: string
  description: Json | undefined
  /** Null: it is not known yet. Undefined: it is not told. */
  schema: Json | undefined
  /** What else is known of it. */
  children: ComponentChildren
}

/** An entry of a list of tools. */
export function Tool({ name, description, schema, children }: ToolProps): JSX.Element {
  return (
    <li class="entry">
      <strong dir="auto">{name}</strong> {children}
      {typeof description === 'string' && <p dir="auto">{description}</p>}
      {schema === null && <p class="more">Its input is known when it is connected.</p>}
      {schema && <JsonTree name="input" value={schema} />}
    </li>
  )
}
