import type { FunctionComponent } from 'preact'
import type { Scope } from '../../core/access/scope.ts'
import type { Me } from '../../wire/me.ts'
import type { Address } from '../state/address/address.ts'
import type { Studio } from '../state/studio.ts'
import { lazyPart } from './lazy-part.ts'

interface Page {
  /** For the tab of the browser. */
  title: string
  /** It is in the bar at the top. */
  isTab?: true
  /** What a key needs to see it. Absent: every key may. */
  scope?: Scope
  /** What the server has to allow the key. Absent: nothing. */
  can?: keyof Me['can']
  /** Loaded when it is first shown. Absent: the page has no view of its own. */
  View?: FunctionComponent<{ studio: Studio }>
}

/** In the order of their tabs. */
export const pages: Readonly<Record<Address['page'], Page>> = {
  chats: { title: 'Chats', isTab: true, scope: 'sessions' },
  knowledge: {
    title: 'Knowledge',
    isTab: true,
    scope: 'knowledge:read',
    View: lazyPart((later) => later.KnowledgePage),
  },
  agents: { title: 'Agents', isTab: true, View: lazyPart((later) => later.AgentsPage) },
  tests: { title: 'Tests', isTab: true, can: 'tests', View: lazyPart((later) => later.TestsPage) },
  again: { title: 'Again', scope: 'sessions', View: lazyPart((later) => later.AgainPage) },
  diff: { title: 'Two runs', scope: 'sessions', View: lazyPart((later) => later.DiffPage) },
  member: { title: 'Run', scope: 'sessions', View: lazyPart((later) => later.MemberPage) },
  watch: { title: 'Watch file saves', scope: 'sessions', View: lazyPart((later) => later.WatchPage) },
  search: { title: 'Search', scope: 'sessions', View: lazyPart((later) => later.Search) },
  file: { title: 'File', View: lazyPart((later) => later.FilePage) },
  run: { title: 'Run' },
  unknown: { title: 'Nothing here' },
}
