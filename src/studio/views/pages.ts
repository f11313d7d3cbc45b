import type { FunctionComponent } from 'preact'
import type { Scope } from '../../core/access/scope.ts'
import type { Me } from '../../wire/me.ts'
import { lazy } from '../parts/lazy.tsx'
import type { Address } from '../state/address.ts'
import type { Studio } from '../state/studio.ts'

interface Page {
  /** In the bar at the top. Absent: it has no tab. */
  tab?: string
  /** What a key needs to see it. Absent: every key may. */
  scope?: Scope
  /** What the server has to allow the key. Absent: nothing. */
  can?: keyof Me['can']
  View: FunctionComponent<{ studio: Studio }>
}

/** The pages besides the chats, each loaded when it is first shown, in the order of their tabs. */
export const pages: Partial<Record<Address['page'], Page>> = {
  knowledge: {
    tab: 'Knowledge',
    scope: 'knowledge:read',
    View: lazy(async () => (await import('../knowledge/page.tsx')).KnowledgePage),
  },
  agents: { tab: 'Agents', View: lazy(async () => (await import('../agents/page.tsx')).AgentsPage) },
  again: {
    scope: 'sessions',
    View: lazy(async () => (await import('../again/page.tsx')).AgainPage),
  },
  diff: {
    scope: 'sessions',
    View: lazy(async () => (await import('../again/diff-page.tsx')).DiffPage),
  },
  member: {
    scope: 'sessions',
    View: lazy(async () => (await import('../again/member-page.tsx')).MemberPage),
  },
  tests: { tab: 'Tests', can: 'tests', View: lazy(async () => (await import('../tests/page.tsx')).TestsPage) },
  watch: { scope: 'sessions', View: lazy(async () => (await import('../watch/page.tsx')).WatchPage) },
  file: { View: lazy(async () => (await import('../file/page.tsx')).FilePage) },
  search: {
    scope: 'sessions',
    View: lazy(async () => (await import('../search/search.tsx')).Search),
  },
}
