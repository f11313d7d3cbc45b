import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { Json } from '../../core/json.ts'
import { messageOf } from '../state/message-of.ts'
import type { OpenedRun } from '../state/opened-run.ts'
import type { Studio } from '../state/studio.ts'
import { heed } from './asides.ts'
import { type MessagePair, messagePairs } from './compare.ts'
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
  if (count === 0 || studio.me.value?.can.prompts !== true) return null
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
        <Messages key={`${idA} ${idB}`} studio={studio} of={[a.runId, idA, b.runId, idB]} />
      )}
    </Part>
  )
}

type Read = { pairs: readonly MessagePair[] } | { error: string } | undefined

function Messages({ studio, of }: { studio: Studio; of: [string, string, string, string] }): JSX.Element {
  const [read, setRead] = useState<Read>()
  const [runA, callA, runB, callB] = of
  useEffect(() => {
    const reading = new AbortController()
    const promptOf = async (run: string, call: string): Promise<Json> => {
      const { calls } = await studio.client.runs.trace(run, { call, signal: reading.signal })
      return calls[0]?.messages ?? null
    }
    Promise.all([promptOf(runA, callA), promptOf(runB, callB)]).then(
      ([before, after]) =>
        setRead(
          Array.isArray(before) && Array.isArray(after)
            ? { pairs: messagePairs(before, after) }
            : { error: 'Some messages of the prompt are gone.' },
        ),
      (error: unknown) => {
        if (!reading.signal.aborted) setRead({ error: messageOf(error) })
      },
    )
    return () => reading.abort()
  }, [studio, runA, callA, runB, callB])
  if (read === undefined) return <p class="about appears">Reading…</p>
  if ('error' in read) return <p role="alert">{read.error}</p>
  const changed = read.pairs.filter(({ before, after }) => before !== after)
  const same = read.pairs.length - changed.length
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
