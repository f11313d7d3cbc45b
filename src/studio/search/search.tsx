import type { JSX } from 'preact'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { counted } from '../../core/text/format.ts'
import type { MessageHit } from '../../wire/message.ts'
import { moveFocus } from '../parts/layout/list-focus.ts'
import { Moment } from '../parts/moment.tsx'
import type { Studio } from '../state/studio.ts'
import { Marked } from './marked.tsx'
import { MessageSearch, type SearchState } from './message-search.ts'

/** After the last key. */
const restMs = 200

/** Messages by their words, in all sessions that the key may see. Its address has what is looked for. */
export function Search({ studio }: { studio: Studio }): JSX.Element {
  const address = studio.address.value
  const text = address.page === 'search' ? address.text : ''
  const search = useMemo(() => new MessageSearch(studio.impatientClient), [studio])
  const field = useRef<HTMLInputElement>(null)
  const typing = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  /** What was typed, as far as the address has it. */
  const shown = useRef('')

  const show = (wanted: string) => {
    clearTimeout(typing.current)
    shown.current = wanted.trim()
    if (shown.current !== text.trim()) studio.go({ page: 'search', text: shown.current }, true)
  }
  useEffect(() => {
    field.current?.focus()
    return () => {
      clearTimeout(typing.current)
      search.close()
    }
  }, [search])
  useEffect(() => {
    // By Back, or a link. What is being typed is newer than its address.
    if (field.current !== null && shown.current !== text.trim()) {
      field.current.value = text
      shown.current = text.trim()
    }
    search.search(text)
  }, [search, text])
  const state = search.state.value
  const hits = search.hits.value
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: what is in it has the keys
    <div
      class="search-page"
      onKeyDown={(event) => {
        // In the field only the arrow that leads out of it.
        if (event.target === field.current && event.key !== 'ArrowDown') return
        moveFocus(event, 'a')
      }}
    >
      <h2>Search</h2>
      <form
        role="search"
        onSubmit={(event) => {
          event.preventDefault()
          show(field.current?.value ?? '')
        }}
      >
        <label>
          Words that a message has, in any order. <code>open*</code> finds words that begin so.
          <input
            ref={field}
            type="search"
            autocomplete="off"
            maxLength={1000}
            onInput={({ currentTarget: { value } }) => {
              clearTimeout(typing.current)
              typing.current = setTimeout(() => show(value), restMs)
            }}
          />
        </label>
      </form>
      <p role="status" class={state.is === 'reading' ? 'about appears' : 'about'} key={state.is}>
        {aboutSearch(state, hits.length)}
      </p>
      {state.is === 'failed' ? (
        <p role="alert" class="failure">
          The messages could not be searched: {state.message}{' '}
          <button type="button" onClick={() => search.goOn()}>
            Try again
          </button>
        </p>
      ) : null}
      {state.is === 'ready' && hits.length === 0 && !state.hasMore ? (
        <button
          type="button"
          onClick={() => {
            if (field.current !== null) field.current.value = ''
            show('')
            field.current?.focus()
          }}
        >
          Clear the search
        </button>
      ) : null}
      {hits.length === 0 ? null : (
        <ol class="hits">
          {hits.map((hit) => (
            <li key={hit.message_id}>
              <Hit studio={studio} hit={hit} />
            </li>
          ))}
        </ol>
      )}
      {state.is === 'ready' && state.hasMore ? (
        <button type="button" onClick={() => search.goOn()}>
          Search older messages
        </button>
      ) : null}
    </div>
  )
}

function Hit({ studio, hit }: { studio: Studio; hit: MessageHit }): JSX.Element {
  const { session_id: sessionId, run_id: runId, role, entity_id, created_at, replaced } = hit
  return (
    <a class="hit" href={studio.urlOf({ page: 'chats', sessionId, runId, filter: {} })}>
      <span dir="auto">
        <Marked {...hit} />
      </span>
      <span class="more">
        {role === 'user' ? `to ${entity_id}` : `by ${entity_id}`} · <Moment at={created_at} />
        {replaced === true ? ' · replaced by another run' : ''}
      </span>
    </a>
  )
}

function aboutSearch(state: SearchState, count: number): string {
  switch (state.is) {
    case 'reading':
      return 'Searching… The first time it may take some seconds.'
    case 'indexing':
      return `The search goes on by itself. The server says: ${state.message}`
    case 'ready':
      if (count === 0) {
        return state.hasMore
          ? `Not found yet: “${state.text}”. There are older messages.`
          : `No message has all the words of “${state.text}”.`
      }
      return `${counted(count, 'message')}${state.hasMore ? ' so far' : ''}, newest first`
    default:
      return ''
  }
}
