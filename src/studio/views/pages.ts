import type { FunctionComponent } from 'preact'
import type { Scope } from '../../core/access/scope.ts'
import type { Me } from '../../wire/me.ts'
import type { Address } from '../state/address.ts'
import type { Studio } from '../state/studio.ts'
import { lazyPart } from './lazy-part.ts'

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
    View: lazyPart((later) => later.KnowledgePage),
  },
  agents: { tab: 'Agents', View: lazyPart((later) => later.AgentsPage) },
  again: {
    scope: 'sessions',
    View: lazyPart((later) => later.AgainPage),
  },
  diff: {
    scope: 'sessions',
    View: lazyPart((later) => later.DiffPage),
  },
  member: {
    scope: 'sessions',
    View: lazyPart((later) => later.MemberPage),
  },
  tests: { tab: 'Tests', can: 'tests', View: lazyPart((later) => later.TestsPage) },
  watch: { scope: 'sessions', View: lazyPart((later) => later.WatchPage) },
  file: { View: lazyPart((later) => later.FilePage) },
  search: {
    scope: 'sessions',
    View: lazyPart((later) => later.Search),
  },
}
