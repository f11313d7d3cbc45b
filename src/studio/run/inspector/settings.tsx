import type { JSX } from 'preact'
import type { TracedCall } from '../../../core/events/trace.ts'
import { JsonTree } from '../../parts/json-tree.tsx'

/** Which model was called, and how. */
export function Settings({ call }: { call: TracedCall }): JSX.Element {
  const slash = call.model.indexOf('/')
  return (
    <>
      <dl class="names">
        {slash === -1 ? null : (
          <div>
            <dt>Provider</dt>
            <dd>{call.model.slice(0, slash)}</dd>
          </div>
        )}
        <div>
          <dt>Model</dt>
          <dd>{call.model.slice(slash + 1)}</dd>
        </div>
      </dl>
      {call.settings === null ? <p>No other settings.</p> : <JsonTree value={call.settings} />}
    </>
  )
}
