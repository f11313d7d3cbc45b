import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Studio } from '../state/studio.ts'

/** Asks for the key or token, which stays in this page. */
export function KeyForm({ studio }: { studio: Studio }): JSX.Element {
  const [keeps, setKeeps] = useState(false)
  const [key, setKey] = useState('')
  const [isAsking, setAsking] = useState(false)
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => field.current?.focus(), [])
  const { credential } = studio.places
  const submit = (event: Event) => {
    event.preventDefault()
    setAsking(true)
    studio.openWith(key, keeps).finally(() => {
      setAsking(false)
      field.current?.select()
    })
  }
  return (
    <main class="middle">
      <h1>agentserve studio</h1>
      <form class="key" onSubmit={submit}>
        <label for="key">
          This server asks for {credential.startsWith('API') ? 'an' : 'a'} {credential}.
        </label>
        <input
          id="key"
          ref={field}
          type="password"
          autocomplete="current-password"
          required
          aria-describedby="key-trouble"
          value={key}
          onInput={({ currentTarget }) => setKey(currentTarget.value)}
        />
        <label>
          <input type="checkbox" checked={keeps} onChange={({ currentTarget }) => setKeeps(currentTarget.checked)} />{' '}
          Keep it until this tab is closed
        </label>
        <button type="submit" class="primary" disabled={isAsking}>
          Open
        </button>
        <p role="alert" id="key-trouble" class="failure">
          {studio.error.value}
        </p>
      </form>
    </main>
  )
}
