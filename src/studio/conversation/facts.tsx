import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { Fact } from '../../wire/fact.ts'
import { useAttempt } from '../state/reading/attempt.ts'
import type { Studio } from '../state/studio.ts'

interface FactsProps {
  studio: Studio
  sessionId: string
}

/** What agents remember about the user of the session; nothing where they remember nothing. */
export function Facts({ studio, sessionId }: FactsProps): JSX.Element | null {
  const { sessions, users } = studio.client
  const own = studio.me.value?.user_id ?? null
  const [user, setUser] = useState('')
  const [known, setKnown] = useState<readonly Fact[]>([])
  const { problem, attempt } = useAttempt()
  // biome-ignore lint/correctness/useExhaustiveDependencies: read once; the menu of each session has its own
  useEffect(() => {
    attempt(async () => {
      const { user_id: userId } = await sessions.get(sessionId)
      // The session may be another's by now.
      if (userId === null || (own !== null && own !== userId)) return
      setUser(userId)
      setKnown((await users.facts.list(userId)).facts)
    })
  }, [])
  const forget = (id: string) =>
    attempt(async () => {
      await users.facts.delete(user, id)
      setKnown((before) => before.filter(({ fact_id }) => fact_id !== id))
    })
  return (
    <>
      {known.length === 0 ? null : (
        <section aria-label="Remembered">
          <p>Remembered about {user} in all sessions:</p>
          <ul>
            {known.map(({ fact_id, content }) => (
              <li key={fact_id}>
                <span dir="auto">{content}</span>{' '}
                <button type="button" class="quiet" aria-label={`Forget: ${content}`} onClick={() => forget(fact_id)}>
                  Forget
                </button>
              </li>
            ))}
          </ul>
        </section>
      )}
      <p role="alert" class="wrong">
        {problem}
      </p>
    </>
  )
}
