import type { FunctionComponent } from 'preact'
import { lazy } from '../parts/lazy.tsx'
import type { Address } from '../state/address.ts'
import type { Studio } from '../state/studio.ts'

type Me = NonNullable<Studio['me']['value']>

interface Page {
  /** In the bar at the top. Absent: it has no tab. */
  tab?: string
  /** Whether the key may see it. Absent: every key. */
  isFor?: (me: Me) => boolean
  View: FunctionComponent<{ studio: Studio }>
}

/** The pages besides the chats, each loaded when it is first shown, in the order of their tabs. */
export const pages: Partial<Record<Address['page'], Page>> = {
  knowledge: {
    tab: 'Knowledge',
    isFor: ({ scopes }) => scopes.includes('knowledge:read'),
    View: lazy(async () => (await import('../knowledge/page.tsx')).KnowledgePage),
  },
  agents: { tab: 'Agents', View: lazy(async () => (await import('../agents/page.tsx')).AgentsPage) },
  search: {
    isFor: ({ scopes }) => scopes.includes('sessions'),
    View: lazy(async () => (await import('../search/search.tsx')).Search),
  },
}
