import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { isEnded } from '../state/conversation.ts'
import type { OpenedRun } from '../state/opened-run.ts'
import { useRead } from '../state/reading/use-read.ts'
import type { Studio } from '../state/studio.ts'
import { heed } from './asides.ts'
import { messagePairs } from './compare.ts'
import { Pair, Part } from './part.tsx'
import { readMessages } from './read-messages.ts'

interface PromptDiffProps {
  studio: Studio
  a: OpenedRun
  b: OpenedRun
}

/** What the models were told, message by message, of the calls with the same number. */
export function PromptDiff({ studio, a, b }: PromptDiffProps): JSX.Element | null {
  heed(a, b)
  const [chosen, setChosen] = useState(1)
  const calls = [a, b].map(({ events }) => events.calls)
  const count = studio.may('prompts') ? Math.max(...calls.map(({ length }) => length)) : 0
  const [idA, idB] = calls.map((ofRun) => ofRun[chosen - 1]?.callId)
  const isInBoth = idA !== undefined && idB !== undefined
  const key = isInBoth && count > 0 ? [a.runId, idA, b.runId, idB].join() : undefined
  const read = async (signal: AbortSignal) => {
    const messagesOf = ({ runId }: OpenedRun, call: string | undefined) => readMessages(studio, runId, call, signal)
    const [before, after] = await Promise.all([messagesOf(a, idA), messagesOf(b, idB)])
    return messagePairs(before, after)
  }
  const first = useRead(key, read)
  // A call that has just begun may not be in the record yet.
  const isOver = [a, b].every(({ run }) => isEnded(run.value))
  const again = useRead(isOver && first.error ? key : undefined, read)
  const { value: pairs } = { ...first, ...again }
  const error = pairs ? undefined : (again.error ?? first.error)
  if (count === 0) return null
  const changed = pairs?.filter(({ before, after }) => before !== after) ?? []
  const same = (pairs?.length ?? 0) - changed.length
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
      {error && <p role="alert">{error}</p>}
      {!isInBoth ? (
        <p class="about">Only {idA === undefined ? 'B' : 'A'} has this call.</p>
      ) : pairs || error ? null : (
        <p class="about appears">Reading…</p>
      )}
      {same > 0 && (
        <p class="about">
          {same === 1 ? '1 message is' : `${same} messages are`} the same
          {changed.length === 0 ? ': nothing differs' : ''}.
        </p>
      )}
      <ul class="pairs">
        {changed.map(({ name, before, after }, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: messages have nothing but their place
          <Pair key={place} name={name === 'system' ? 'instructions' : name} before={before} after={after} />
        ))}
      </ul>
    </Part>
  )
}
