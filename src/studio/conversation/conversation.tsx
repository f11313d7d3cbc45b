import type { JSX } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import type { Address } from '../state/address.ts'
import { type Conversation, isUnderWay } from '../state/conversation.ts'
import type { Studio } from '../state/studio.ts'
import { Composer } from './composer.tsx'
import { TurnView } from './turn.tsx'

interface ConversationProps {
  studio: Studio
  conversation: Conversation
  address: Extract<Address, { page: 'chats' }>
}

/** How far from its end a page still follows what is written. */
const nearEndPx = 80

export function ConversationView({ studio, conversation, address }: ConversationProps): JSX.Element {
  const turns = conversation.turns.value
  const changes = conversation.changes.value
  const box = useRef<HTMLElement>(null)
  const follows = useRef(true)
  const last = turns.at(-1)

  // biome-ignore lint/correctness/useExhaustiveDependencies: whenever something was added
  useLayoutEffect(() => {
    const element = box.current
    if (element !== null && follows.current) element.scrollTop = element.scrollHeight
  }, [turns, changes])

  const { runId, sessionId } = address
  const toggle = (opened: string) =>
    studio.go({
      page: 'chats',
      filter: address.filter,
      ...(sessionId !== undefined && { sessionId }),
      ...(opened !== runId && { runId: opened }),
    })

  return (
    <>
      <section
        class="turns"
        aria-label="Conversation"
        ref={box}
        onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
          follows.current = scrollHeight - scrollTop - clientHeight < nearEndPx
        }}
      >
        {conversation.hasMore.value ? (
          <button type="button" class="quiet" onClick={() => conversation.more()}>
            Earlier turns
          </button>
        ) : null}
        {turns.map((turn) => (
          <TurnView
            key={turn.run.run_id}
            studio={studio}
            turn={turn}
            isOpen={turn.run.run_id === runId}
            onOpen={() => toggle(turn.run.run_id)}
          />
        ))}
        <p role="status">{aboutConversation(conversation)}</p>
      </section>
      {conversation.state.value === 'deleted' ? null : (
        <Composer
          label={last?.run.entity_id ?? 'the agent'}
          onSend={(text) => studio.send(conversation, last?.run.entity_id, text)}
        />
      )}
      {last !== undefined && isUnderWay(last.run) ? (
        <p class="hidden" role="status">{`${last.run.entity_id} answers`}</p>
      ) : null}
    </>
  )
}

function aboutConversation({ state, error }: Conversation): string {
  if (state.value === 'loading') return 'Reading…'
  if (state.value === 'deleted') return 'This session has been deleted.'
  return error.value
}
