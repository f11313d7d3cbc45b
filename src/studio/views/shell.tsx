import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { ConversationView } from '../conversation/conversation.tsx'
import { lazy } from '../parts/lazy.tsx'
import { RunView } from '../run/run.tsx'
import { Sessions } from '../sessions/list.tsx'
import type { Address } from '../state/address.ts'
import type { Studio } from '../state/studio.ts'
import { KeyForm } from './key-form.tsx'
import { pages } from './pages.ts'
import { Start } from './start.tsx'

const Help = lazy(async () => (await import('./help.tsx')).Help)

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
  const [isHelping, setHelping] = useState(false)
  useEffect(
    () =>
      studio.keys.on({
        help: () => setHelping(true),
        search: () => studio.go({ page: 'search', text: '' }),
        chats: () => studio.go({ page: 'chats', filter: {} }),
        knowledge: () => studio.go({ page: 'knowledge', query: {} }),
        agents: () => studio.go({ page: 'agents' }),
        new: () => studio.go({ page: 'chats', filter: {} }),
      }),
    [studio],
  )
  return (
    <>
      {address.page === 'chats' ? <ChatColumns studio={studio} address={address} /> : <OtherPage studio={studio} />}
      {isHelping ? <Help keys={studio.keys} onClose={() => setHelping(false)} /> : null}
    </>
  )
}

/** A page with a bar at the top and one view. */
function OtherPage({ studio }: { studio: Studio }): JSX.Element {
  const page = pages[studio.address.value.page]
  return (
    <div class="shell" data-depth="page">
      <a class="skip" href="#page">
        Skip to the page
      </a>
      <Top studio={studio} />
      <main id="page" class="page" tabIndex={-1}>
        {page === undefined ? (
          <div class="middle">
            <h2>Nothing here</h2>
            <p role="alert">{studio.error.value}</p>
            <a href={studio.urlOf({ page: 'chats', filter: {} })}>All sessions</a>
          </div>
        ) : (
          <page.View studio={studio} />
        )}
      </main>
    </div>
  )
}

interface ChatColumnsProps {
  studio: Studio
  address: Extract<Address, { page: 'chats' }>
}

function ChatColumns({ studio, address }: ChatColumnsProps): JSX.Element {
  const conversation = studio.chats.conversation.value
  const opened = studio.chats.opened.value
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
      <Tabs studio={studio} />
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

function Tabs({ studio }: { studio: Studio }): JSX.Element {
  const shown = studio.address.value.page
  const me = studio.me.value
  const tabs = Object.entries(pages).flatMap(([page, { tab, isFor }]) =>
    tab === undefined || me === undefined || isFor?.(me) === false ? [] : [{ page, tab }],
  )
  const to = (page: string): Address =>
    page === 'knowledge' ? { page, query: {} } : page === 'agents' ? { page } : { page: 'chats', filter: {} }
  return (
    <nav class="pages" aria-label="Pages">
      {[{ page: 'chats', tab: 'Chats' }, ...tabs].map(({ page, tab }) => (
        <a key={page} href={studio.urlOf(to(page))} aria-current={page === shown ? 'page' : undefined}>
          {tab}
        </a>
      ))}
    </nav>
  )
}
