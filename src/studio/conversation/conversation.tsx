import type { ComponentChildren, JSX } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { Address } from '../state/address/address.ts'
import { type Conversation, isUnderWay } from '../state/conversation.ts'
import type { Studio } from '../state/studio.ts'
import { AboutAgent } from './about-agent.tsx'
import { Announcer } from './announcer.tsx'
import { useBranches } from './branches.tsx'
import { Composer } from './composer.tsx'
import { Header } from './header.tsx'
import { TurnView } from './turn.tsx'

interface ConversationProps {
  studio: Studio
  conversation: Conversation
  address: Extract<Address, { page: 'chats' }>
}

/** How far from its end a page still follows what is written. */
const nearEndPx = 80
const mostMounted = 50
const step = 25

export function ConversationView({ studio, conversation, address }: ConversationProps): JSX.Element {
  const state = conversation.state.value
  const last = conversation.turns.value.at(-1)
  const [chosen, setChosen] = useState<string>()
  const mayAsk = state !== 'deleted' && state !== 'missing' && studio.may('run')
  const agents = studio.agents.value
  const asked = chosen ?? last?.run.entity_id ?? agents[0]?.id
  const agent = agents.find(({ id }) => id === asked)
  return (
    <>
      <Header studio={studio} conversation={conversation} filter={address.filter} />
      <Turns studio={studio} conversation={conversation} address={address}>
        {agent?.kind === 'workflow' && mayAsk ? (
          <AboutAgent
            key={agent.id}
            studio={studio}
            agent={agent}
            onAsk={(input) => conversation.send(agent.id, input, [])}
          />
        ) : null}
      </Turns>
      {asked === undefined || !mayAsk ? null : (
        <Composer
          label={asked}
          draftOf={conversation.sessionId}
          agents={agents}
          onChoose={setChosen}
          onSend={(text, files) => conversation.send(asked, text, files)}
        />
      )}
      <Announcer turn={last} isBegun={studio.begun === conversation.sessionId} />
    </>
  )
}

interface TurnsProps extends ConversationProps {
  /** After the last turn. */
  children?: ComponentChildren
}

/** What was said, from its end on. */
export function Turns({ studio, conversation, address, children }: TurnsProps): JSX.Element {
  const turns = conversation.turns.value
  const hasMore = conversation.hasMore.value
  const branches = useBranches(studio, conversation)
  const box = useRef<HTMLElement>(null)
  const follows = useRef(true)
  /** How many turns there are up to the last one that is mounted; infinite: what comes is mounted too. */
  const [shownTo, setShownTo] = useState(Number.POSITIVE_INFINITY)
  const to = Math.min(shownTo, turns.length)
  const from = Math.max(0, to - mostMounted)
  const isEnd = to === turns.length

  useLayoutEffect(() => {
    const element = box.current
    const content = element?.firstElementChild
    if (element === null || !content) return
    const atEnd = () => {
      if (follows.current) element.scrollTop = element.scrollHeight
    }
    atEnd()
    const grows = new ResizeObserver(atEnd)
    grows.observe(content)
    return () => grows.disconnect()
  }, [])
  const showUntil = (place: number) => {
    setShownTo(place < conversation.turns.value.length ? Math.max(place, mostMounted) : Number.POSITIVE_INFINITY)
  }
  const earlier = async () => {
    follows.current = false
    const before = turns.length
    if (from === 0) await conversation.more()
    showUntil(to + (conversation.turns.value.length - before) - step)
  }
  return (
    <section
      class="turns"
      aria-label="Conversation"
      ref={box}
      onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
        follows.current = isEnd && scrollHeight - scrollTop - clientHeight < nearEndPx
      }}
    >
      <div>
        {from > 0 || hasMore ? (
          <button type="button" class="quiet" onClick={() => void earlier()}>
            Earlier turns
          </button>
        ) : null}
        {turns.length === 0 ? null : (
          <div role="feed" aria-label="Turns" aria-busy={conversation.state.value === 'loading'}>
            {turns.slice(from, to).map((turn, place) => (
              <TurnView
                key={turn.run.run_id}
                studio={studio}
                conversation={conversation}
                turn={turn}
                address={address}
                branches={branches.get(turn.run.run_id)}
                place={from + place + 1}
                count={hasMore ? -1 : turns.length}
                before={turns.slice(0, from + place).filter(({ run }) => isUnderWay(run)).length}
              />
            ))}
          </div>
        )}
        {isEnd ? null : (
          <button type="button" class="quiet" onClick={() => showUntil(to + step)}>
            Later turns
          </button>
        )}
        <About conversation={conversation} studio={studio} filter={address.filter} />
        {children}
      </div>
    </section>
  )
}

interface AboutProps {
  studio: Studio
  conversation: Conversation
  filter: Extract<Address, { page: 'chats' }>['filter']
}

/** What is there instead of turns, or why no more come. */
function About({ studio, conversation, filter }: AboutProps): JSX.Element {
  const { state, error, turns } = conversation
  const all = <a href={studio.urlOf({ page: 'chats', filter })}>All sessions</a>
  switch (state.value) {
    case 'loading':
      return <p class="about appears">Reading…</p>
    case 'missing':
      return (
        <div class="middle">
          <h2>Session not found</h2>
          <p role="alert">There is none with this id, or it belongs to somebody else.</p>
          {all}
        </div>
      )
    case 'deleted':
      return <p role="status">This session has been deleted. {all}</p>
    case 'failed':
      return (
        <p role="alert">
          The session could not be read: {error.value}{' '}
          <button type="button" onClick={() => conversation.read()}>
            Try again
          </button>
        </p>
      )
    case 'ready':
      if (turns.value.length === 0) return <p class="about">Nothing was said here yet.</p>
      return <p role="alert">{error.value}</p>
  }
}
