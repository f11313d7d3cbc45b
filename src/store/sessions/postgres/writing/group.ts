import { isTry } from '../../../../core/run.ts'
import type { EventsAppended, RunEnd, RunFinished, RunStart, RunStarted } from '../../../../core/run-write.ts'
import { runIdOf } from '../../../rules/run-writes.ts'
import type { HotItem } from './hot-write.ts'
import { needsNew } from './rows.ts'

/* The writer's queue, and which of its writes go into one group. */

const maxWrites = 512
const maxCharacters = 4 * 1024 * 1024
/** From this size on, a write is made in several ticks, and written alone. */
const largeCharacters = 1024 * 1024

export type Write = HotItem['write']
export type Outcome = RunStarted | RunFinished | EventsAppended

export interface PendingWrite {
  write: Write
  characters: number
  /** It was sent, and nobody knows whether it was written. */
  again: boolean
  resolve(outcome: Outcome): void
  reject(error: unknown): void
}

/** One write, or a run's start with its own end. */
export interface GroupItem extends HotItem {
  writes: PendingWrite[]
}

/** What is being written alone; later writes of these runs, and later starts in these sessions, wait. */
export class Underway {
  readonly runs = new Set<string>()
  readonly sessions = new Set<string>()

  begin({ write }: PendingWrite): void {
    this.runs.add(runIdOf(write))
    if (write.kind === 'start') this.sessions.add(write.start.run.session_id)
  }

  end({ write }: PendingWrite): void {
    this.runs.delete(runIdOf(write))
    if (write.kind === 'start') this.sessions.delete(write.start.run.session_id)
  }
}

export interface Taken {
  /** Each run at most once, except a start followed by its own end. */
  items: GroupItem[]
  /** Whose starts these are. */
  owner: string | undefined
  /** To be written alone. */
  alone: PendingWrite[]
  /** What waits for another write, or for the next group. */
  rest: PendingWrite[]
}

export const isLarge = ({ characters }: PendingWrite) => characters >= largeCharacters

/** Everything that waits, up to the size of a group. */
export function takeGroup(waiting: readonly PendingWrite[], underway: Underway): Taken {
  const taken: Taken = { items: [], owner: undefined, alone: [], rest: [] }
  const items = new Map<string, GroupItem>()
  const held = new Held(underway)
  let characters = 0
  let count = 0
  for (const [place, one] of waiting.entries()) {
    if (count === maxWrites || characters >= maxCharacters) {
      taken.rest.push(...waiting.slice(place))
      break
    }
    const { write } = one
    const runId = runIdOf(write)
    const item = items.get(runId)
    if (held.has(write, runId) || (item !== undefined && !isOwnEnd(item, write)) || !held.mayStart(write, taken)) {
      held.add(write, runId)
      taken.rest.push(one)
      continue
    }
    if (goesAlone(one)) {
      if (item !== undefined) taken.rest.push(one)
      else taken.alone.push(one)
      held.add(write, runId)
      continue
    }
    if (item === undefined) items.set(runId, { write, writes: [one] })
    else {
      item.end = (write as { end: RunEnd }).end
      item.writes.push(one)
    }
    held.started(write, taken)
    characters += one.characters
    count++
  }
  taken.items = [...items.values()]
  return taken
}

function isOwnEnd(item: GroupItem, write: Write): boolean {
  return write.kind === 'finish' && write.end.fence === 1 && item.write.kind === 'start' && item.end === undefined
}

/** What the statement of a group can't write. */
function goesAlone(one: PendingWrite): boolean {
  const { write } = one
  if (isLarge(one)) return true
  if (write.kind === 'finish') {
    const { bringsBack, refused, fence } = write.end
    return bringsBack === true || refused !== undefined || fence === null
  }
  if (write.kind !== 'start') return false
  const { replaces, claim } = write.start
  return replaces !== undefined || claim?.over !== undefined || mergesState(write.start)
}

/** Into the state of a session that exists. */
function mergesState({ run, session, state }: RunStart): boolean {
  return state !== null && session === null && run.status === 'running' && !isTry(run)
}

class Held {
  readonly runs = new Set<string>()
  readonly #underway: Underway
  /** Sessions of starts that go alone. */
  readonly #sessions = new Set<string>()
  /** Sessions with a start in this group; true: one that makes the session, and may have no other beside it. */
  readonly #starts = new Map<string, boolean>()

  constructor(underway: Underway) {
    this.#underway = underway
  }

  has(write: Write, runId: string): boolean {
    if (this.runs.has(runId) || this.#underway.runs.has(runId)) return true
    if (write.kind !== 'start') return false
    const { session_id: sessionId } = write.start.run
    return this.#sessions.has(sessionId) || this.#underway.sessions.has(sessionId)
  }

  add(write: Write, runId: string): void {
    this.runs.add(runId)
    if (write.kind === 'start') this.#sessions.add(write.start.run.session_id)
  }

  mayStart(write: Write, { owner }: Taken): boolean {
    if (write.kind !== 'start') return true
    const { start } = write
    if (owner !== undefined && owner !== start.owner) return false
    const beside = this.#starts.get(start.run.session_id)
    return beside === undefined || (!beside && !needsNew(start))
  }

  started(write: Write, taken: Taken): void {
    if (write.kind !== 'start') return
    taken.owner = write.start.owner
    this.#starts.set(write.start.run.session_id, needsNew(write.start))
  }
}
