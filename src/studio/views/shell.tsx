import { useSignalEffect } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Sessions } from '../sessions/list.tsx'
import type { Address } from '../state/address/address.ts'
import { takeDroppedFiles } from '../state/dropped-file.ts'
import type { Studio } from '../state/studio.ts'
import { lazyPart } from './lazy-part.ts'
import { usePageKeys } from './page-keys.ts'
import { pages } from './pages.ts'
import { Splitter } from './splitter.tsx'
import { Start } from './start.tsx'
import { titleOf } from './title.ts'
import { Top } from './top.tsx'

const ConversationView = lazyPart((later) => later.ConversationView)
const RunView = lazyPart((later) => later.RunView)
const KeyForm = lazyPart((later) => later.KeyForm)
const Help = lazyPart((later) => later.Help)

/** The page: sessions, a conversation, a run; on a narrow screen one at a time. */
export function Shell({ studio }: { studio: Studio }): JSX.Element {
  const status = studio.status.value
  const wasAsked = useRef(false)
  useEffect(() => {
    void studio.start()
  }, [studio])
  useSignalEffect(() => {
    document.title = titleOf(studio)
  })
  if (status === 'needs key' || status === 'failed') wasAsked.current = true
  if (status === 'needs key') return <KeyForm studio={studio} />
  if (status === 'starting') {
    return (
      <main class="middle appears">
        <p>Reading…</p>
      </main>
    )
  }
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
  return <Page studio={studio} takesFocus={wasAsked.current} />
}

interface PageProps {
  studio: Studio
  /** What had the focus before is gone. */
  takesFocus: boolean
}

function Page({ studio, takesFocus }: PageProps): JSX.Element {
  const address = studio.address.value
  const [isHelping, setHelping] = useState(false)
  const notice = usePageKeys(studio, address, { onHelp: setHelping, takesFocus })
  useEffect(() => takeDroppedFiles(studio), [studio])
  const top = <Top studio={studio} onHelp={() => setHelping(true)} />
  return (
    <>
      {address.page === 'chats' && studio.may('sessions') ? (
        <ChatColumns studio={studio} address={address} top={top} />
      ) : (
        <OtherPage studio={studio} top={top} />
      )}
      <p class="notice" role="status">
        {notice}
      </p>
      {isHelping ? <Help keys={studio.keys} onClose={() => setHelping(false)} /> : null}
    </>
  )
}

/** A page with one view, or why it can't be seen. */
function OtherPage({ studio, top }: { studio: Studio; top: JSX.Element }): JSX.Element {
  const { page } = studio.address.value
  const { title, scope, can, View } = pages[page]
  return (
    <div class="shell" data-depth="page">
      <a class="skip" href="#page">
        Skip to the page
      </a>
      {top}
      <main id="page" class="page" tabIndex={-1}>
        {scope !== undefined && !studio.may(scope) ? (
          <div class="middle">
            <h2>This key may not see this page</h2>
            <p>
              It needs the scope <code>{scope}</code>.
            </p>
          </div>
        ) : can !== undefined && !studio.can(can) ? (
          <div class="middle">
            <h2>No {can} here</h2>
            <p>
              <code>agentserve dev</code> has them, for operators.
            </p>
          </div>
        ) : View !== undefined ? (
          <View studio={studio} />
        ) : page === 'run' ? (
          <p class="middle appears">Reading…</p>
        ) : (
          <div class="middle">
            <h2>{title}</h2>
            <p role="alert">{studio.error.value}</p>
            <a href={studio.urlOf({ page: 'chats', filter: {} })}>All sessions</a>
          </div>
        )}
      </main>
    </div>
  )
}

interface ChatColumnsProps {
  studio: Studio
  address: Extract<Address, { page: 'chats' }>
  top: JSX.Element
}

function ChatColumns({ studio, address, top }: ChatColumnsProps): JSX.Element {
  const { chats } = studio
  const conversation = chats.conversation.value
  const opened = chats.opened.value
  return (
    <div class="shell" data-depth={depthOf(studio, address)}>
      <a class="skip" href="#conversation">
        Skip to the conversation
      </a>
      {top}
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
      {opened === undefined ? null : (
        <>
          <Splitter />
          <RunView key={opened.runId} studio={studio} opened={opened} address={address} />
        </>
      )}
    </div>
  )
}

/** Which column a narrow screen shows. Without any session there is only something to begin. */
function depthOf({ chats: { sessions } }: Studio, { runId, sessionId, isNew, filter }: ChatColumnsProps['address']) {
  if (runId !== undefined) return 'run'
  if (sessionId !== undefined || isNew === true) return 'session'
  return sessions.total.value === 0 && Object.keys(filter).length === 0 ? 'session' : 'list'
}
