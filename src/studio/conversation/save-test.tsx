import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { useAttempt } from '../state/reading/attempt.ts'
import type { Studio } from '../state/studio.ts'

interface SaveTestProps {
  studio: Studio
  /** Or what makes one, once. */
  sessionId: string | (() => Promise<string>)
}

/** Makes the conversation a test of the project, in a file that is not there yet. */
export function SaveTest({ studio, sessionId }: SaveTestProps): JSX.Element {
  const [name, setName] = useState('')
  const [saved, setSaved] = useState<string>()
  const [made, setMade] = useState<string>()
  const { problem, attempt } = useAttempt()
  const save = (event: Event) => {
    event.preventDefault()
    setSaved(undefined)
    attempt(async () => {
      const of = typeof sessionId === 'string' ? sessionId : (made ?? (await sessionId()))
      setMade(of)
      setSaved((await studio.client.tests.save({ session_id: of, name: name.trim() })).name)
    })
  }
  return (
    <form onSubmit={save}>
      <label>
        Save as test{' '}
        <input
          value={name}
          maxLength={100}
          required
          placeholder="name of the file"
          onInput={({ currentTarget }) => setName(currentTarget.value)}
        />
      </label>{' '}
      <button type="submit">Save the test</button>
      <p role="status">
        {saved === undefined ? null : (
          <>
            Saved. <a href={studio.urlOf({ page: 'tests', name: saved })}>{saved}</a>
          </>
        )}
      </p>
      <p role="alert" class="wrong">
        {problem}
      </p>
    </form>
  )
}
