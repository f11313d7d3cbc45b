import type { FunctionComponent } from 'preact'
import type { Scope } from '../../core/access/scope.ts'
import { lazy } from '../parts/lazy.tsx'
import type { Address } from '../state/address.ts'
import type { Studio } from '../state/studio.ts'

interface Page {
  /** In the bar at the top. Absent: it has no tab. */
  tab?: string
  /** The scope that a key must have. */
  needs?: Scope
  View: FunctionComponent<{ studio: Studio }>
}

/** The pages besides the chats, each loaded when it is first shown, in the order of their tabs. */
export const pages: Partial<Record<Address['page'], Page>> = {
  search: { needs: 'sessions', View: lazy(async () => (await import('../search/search.tsx')).Search) },
}
