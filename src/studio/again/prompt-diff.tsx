import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { Json } from '../../core/json.ts'
import type { OpenedRun } from '../state/opened-run.ts'
import type { Studio } from '../state/studio.ts'
import { useRead } from '../state/use-read.ts'
import { heed } from './asides.ts'
import { messagePairs } from './compare.ts'
import { onlyIn, Part, TextDiff } from './part.tsx'

interface PromptDiffProps {
  studio: Studio
  a: OpenedRun
  b: OpenedRun
}

/** What the models were told, message by message, of the calls with the same number. */
export function PromptDiff({ studio, a, b }: PromptDiffProps): JSX.Element | null {
  heed(a, b)
  const calls = [a, b].map(({ events }) => events.records.calls)
  const count = Math.max(...calls.map(({ length }) => length))
  const [chosen, setChosen] = useState(1)
  if (count === 0 || !studio.can('prompts')) return null
  const [idA, idB] = calls.map((ofRun) => ofRun[chosen - 1]?.callId)
  return (
    <Part title="Prompt">
      {count === 1 ? null : (
        <label>
          Of model call{' '}
          <select value={chosen} onChange={({ currentTarget }) => setChosen(Number(currentTarget.value))}>
            {Array.from({ length: count }, (_, place) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: it is the number of the call
              <option key={place}>{place + 1}</option>
            ))}
          </select>
        </label>
      )}
      {idA === undefined || idB === undefined ? (
        <p class="about">Only {idA === undefined ? 'B' : 'A'} has this call.</p>
      ) : (
        <Messages studio={studio} of={[a.runId, idA, b.runId, idB]} />
      )}
    </Part>
  )
}

/** The runs and their calls. */
type Of = readonly [runA: string, callA: string, runB: string, callB: string]

function Messages({ studio, of }: { studio: Studio; of: Of }): JSX.Element {
  const { value: pairs, error } = useRead(of.join(), async (signal) => {
    const promptOf = async (run: string, call: string): Promise<Json> => {
      const { calls } = await studio.client.runs.trace(run, { call, signal })
      return calls[0]?.messages ?? null
    }
    const [runA, callA, runB, callB] = of
    const [before, after] = await Promise.all([promptOf(runA, callA), promptOf(runB, callB)])
    if (Array.isArray(before) && Array.isArray(after)) return messagePairs(before, after)
    throw new Error('Some messages of the prompt are gone.')
  })
  if (error !== undefined) return <p role="alert">{error}</p>
  if (pairs === undefined) return <p class="about appears">Reading…</p>
  const changed = pairs.filter(({ before, after }) => before !== after)
  const same = pairs.length - changed.length
  return (
    <>
      {same === 0 ? null : (
        <p class="about">
          {same === 1 ? '1 message is' : `${same} messages are`} the same
          {changed.length === 0 ? ': nothing differs' : ''}.
        </p>
      )}
      <ul class="pairs">
        {changed.map(({ role, before, after }, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: messages have nothing but their place
          <li key={place}>
            <strong>{role === 'system' ? 'instructions' : role}</strong>
            {onlyIn([before !== undefined, after !== undefined])}
            <TextDiff before={before} after={after} />
          </li>
        ))}
      </ul>
    </>
  )
}
