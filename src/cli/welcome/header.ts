import type { Client } from '../../client/client.ts'
import { terminalLine } from '../terminal/text.ts'

export type Entity = Awaited<ReturnType<Client['agents']['list']>>['agents'][number]

export interface HeaderFacts {
  first: Entity
  others: readonly Entity[]
  sessionId: string
  /** Where the data or the server is. */
  place: readonly [name: string, value: string]
}

const shownOthers = 5

/** Who answers, with which model, in which session, and where it is kept: one row each. */
export function formatHeader({ first, others, sessionId, place }: HeaderFacts): string {
  const { id, kind, description, model } = first
  const rows: (readonly [string, string])[] = [
    [kind, description === null ? id : `${id}: ${description}`],
    ...modelRow(kind, model),
    ['session', `${sessionId} (new)`],
    place,
  ]
  if (others.length > 0) {
    const ids = others.slice(0, shownOthers).map((other) => other.id)
    const more = others.length > shownOthers ? [`${others.length - shownOthers} more`] : []
    rows.push(['also', `${[...ids, ...more].join(', ')} (/agent changes to another)`])
  }
  return rows.map(([name, value]) => `${name.padEnd(10)}${terminalLine(value)}`).join('\n')
}

function modelRow(kind: Entity['kind'], model: string | null): (readonly [string, string])[] {
  if (model === 'offline') return [['model', 'none: the answers are quotes from the documents']]
  if (model !== null) return [['model', model]]
  return kind === 'agent' ? [['model', 'none: its own code answers']] : []
}
