import type { JSX } from 'preact'
import { Dialog } from '../parts/dialog.tsx'
import { type KeyRow, keyGroups } from '../state/keys/key-table.ts'
import type { Keys } from '../state/keys/keys.ts'

/** All keys, and the switch for those without Ctrl or Cmd. */
export function Help({ keys, onClose }: { keys: Keys; onClose: () => void }): JSX.Element {
  return (
    <Dialog title="Keys" onClose={onClose}>
      <label>
        <input
          type="checkbox"
          checked={keys.isOn.value}
          onChange={({ currentTarget }) => keys.turn(currentTarget.checked)}
        />{' '}
        Single keys do something outside of fields
      </label>
      <div class="keys">
        {Object.entries<Record<string, KeyRow>>(keyGroups).map(([where, rows]) => (
          <section key={where}>
            <h3>{where}</h3>
            <dl>
              {Object.values(rows).map(([does, ...alternatives]) => (
                <div key={does}>
                  <dt>
                    {alternatives.map((key) => (
                      <kbd key={key}>{key}</kbd>
                    ))}
                  </dt>
                  <dd>{does}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  )
}
