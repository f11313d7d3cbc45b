import type { JSX } from 'preact'
import type { TracedCall } from '../../../core/events/trace.ts'
import { JsonTree } from '../../parts/json-tree.tsx'

/** Which model of which provider was called, and how. */
export function Settings({ call }: { call: TracedCall }): JSX.Element {
  return (
    <>
      <p>
        Model <code>{call.model}</code>
      </p>
      {call.settings === null ? <p>No other settings.</p> : <JsonTree value={call.settings} />}
    </>
  )
}
