import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { safeName } from '../parts/format.ts'
import type { Address } from '../state/address/address.ts'
import type { Conversation } from '../state/conversation.ts'
import type { Studio } from '../state/studio.ts'
import { SessionMenu } from './session-menu.tsx'

interface HeaderProps {
  studio: Studio
  conversation: Conversation
  filter: Extract<Address, { page: 'chats' }>['filter']
}

/** What the session is called, who answers in it, and what can be done with the whole of it. */
export function Header({ studio, conversation, filter }: HeaderProps): JSX.Element | null {
  const [isOpen, setOpen] = useState(false)
  const state = conversation.state.value
  if (state === 'missing') return null
  const turns = conversation.turns.value
  const agents = [...new Set(turns.map(({ run }) => run.entity_id))]
  return (
    <header class="session-head">
      <a class="back" href={studio.urlOf({ page: 'chats', filter })} aria-label="Back to all sessions">
        ‹
      </a>
      <div>
        <h2 dir="auto">{titleOf(conversation)}</h2>
        <p class="more">{agents.slice(-3).join(', ')}</p>
      </div>
      {/* It may be deleted while the menu is open. */}
      {state === 'deleted' ? null : (
        <>
          <button type="button" class="quiet" aria-haspopup="dialog" onClick={() => setOpen(true)}>
            Session…
          </button>
          {isOpen ? <SessionMenu studio={studio} conversation={conversation} onClose={() => setOpen(false)} /> : null}
        </>
      )}
    </header>
  )
}

/** Its name, else what was said first, else its id. */
export function titleOf({ named, turns, hasMore, sessionId }: Conversation): string {
  const head = named.value
  const first = hasMore.value ? undefined : turns.value[0]?.messages.find(({ role }) => role === 'user')
  const file = first?.parts.find((part) => part.type === 'file')
  const said = first?.content || safeName(file?.name ?? '')
  return head?.name || head?.title || said.trim().slice(0, 120) || sessionId
}
