import type { JSX } from 'preact'
import { useEffect } from 'preact/hooks'
import { ConversationView } from '../conversation/conversation.tsx'
import { RunView } from '../run/run.tsx'
import { Sessions } from '../sessions/list.tsx'
import type { Studio } from '../state/studio.ts'
import { KeyForm } from './key-form.tsx'
import { Start } from './start.tsx'

/** The page: sessions, a conversation, a run; on a narrow screen one at a time. */
export function Shell({ studio }: { studio: Studio }): JSX.Element {
  const status = studio.status.value
  useEffect(() => {
    void studio.start()
  }, [studio])
  if (status === 'needs key') return <KeyForm studio={studio} />
  if (status === 'starting') return <p class="middle">Reading…</p>
  if (status === 'failed') {
    return (
      <main class="middle">
        <h1>agentserve studio</h1>
        <p role="alert">The server could not be read: {studio.error.value}</p>
        <button type="button" onClick={() => void studio.start()}>
          Try again
        </button>
      </main>
    )
  }
  return <Columns studio={studio} />
}

function Columns({ studio }: { studio: Studio }): JSX.Element {
  const address = studio.address.value
  const conversation = studio.conversation.value
  const opened = studio.opened.value
  if (address.page !== 'chats') {
    return (
      <main class="middle">
        <h1>Nothing here</h1>
        <p role="alert">{studio.error.value}</p>
        <a href={studio.urlOf({ page: 'chats', filter: {} })}>All sessions</a>
      </main>
    )
  }
  const depth = address.runId !== undefined ? 'run' : address.sessionId !== undefined ? 'session' : 'list'
  return (
    <div class="shell" data-depth={depth}>
      <a class="skip" href="#conversation">
        Skip to the conversation
      </a>
      <Top studio={studio} />
      <Sessions studio={studio} filter={address.filter} />
      <main id="conversation" class="conversation" tabIndex={-1}>
        {conversation === undefined ? (
          <Start studio={studio} agent={address.filter.agent} />
        ) : (
          <ConversationView
            key={conversation.sessionId}
            studio={studio}
            conversation={conversation}
            address={address}
          />
        )}
      </main>
      {opened === undefined ? null : <RunView key={opened.runId} studio={studio} opened={opened} address={address} />}
    </div>
  )
}

function Top({ studio }: { studio: Studio }): JSX.Element {
  const trouble = studio.trouble.value
  const lostAt = studio.lostAt.value
  return (
    <header class="top">
      <h1>
        <a href={studio.urlOf({ page: 'chats', filter: {} })}>agentserve</a>
      </h1>
      <a href="/docs">API</a>
      <p role="status" class={lostAt === undefined ? 'live' : 'lost'}>
        {lostAt === undefined ? 'live' : `reconnecting… what you see is of ${lostAt.toLocaleTimeString()}`}
      </p>
      {trouble === undefined ? null : (
        <p role="alert" class="failure">
          {trouble.file === undefined ? '' : `${trouble.file}:${trouble.line ?? 1} `}
          {trouble.message} The agents from before go on.
        </p>
      )}
    </header>
  )
}
