import type { FunctionComponent } from 'preact'
import type { Address } from '../state/address.ts'
import type { Studio } from '../state/studio.ts'

interface Page {
  /** In the bar at the top. Absent: it has no tab. */
  tab?: string
  View: FunctionComponent<{ studio: Studio }>
}

/** The pages besides the chats, each loaded when it is first shown, in the order of their tabs. */
export const pages: Partial<Record<Address['page'], Page>> = {}
