import { AppError } from '../../core/error.ts'
import { isEnded, type RunStatus } from '../../core/run.ts'
import type { TryKept, TryNotKept } from '../../core/run-write.ts'
import type { Summary } from '../../core/summary.ts'

/*
 * The turns of a session are a tree: each follows the turn that was the last of the conversation when it was stored. The
 * conversation is one path through it, the turns that are not replaced, in stored order. Marking a turn as replaced
 * records which turn it follows; that never changes again.
 */

export interface Turn {
  run_id: string
  created_at: string
  replaced_by: string | null
  follows: string | null
  /** It ended without an answer, and did not complete. */
  isBarren: boolean
}

export function isBarren(status: RunStatus, isSilent: boolean): boolean {
  return isSilent && isEnded(status) && status !== 'completed' && status !== 'input_required'
}

/** A turn with its new marks. */
export interface MarkedTurn {
  run_id: string
  replaced_by: string | null
  follows: string | null
}

/** How the conversation changes. */
export interface TurnChange<T extends Turn = Turn> {
  /** The turns that join it, oldest first. */
  back: T[]
  /** The turns that leave it, oldest first. */
  away: T[]
  /** All of them, as they are stored from now on. */
  marks: MarkedTurn[]
  /** The number of turns of the conversation before the first one that leaves it. */
  place: number
}

/** The conversation as this turn saw it, and the turn; empty when there is no such turn. `turns`: in stored order. */
export function pathTo<T extends Turn>(turns: readonly T[], runId: string): T[] {
  const byId = new Map(turns.map((turn) => [turn.run_id, turn]))
  const path: T[] = []
  let turn = byId.get(runId)
  while (turn !== undefined && turn.replaced_by !== null && path.length < turns.length) {
    path.unshift(turn)
    turn = turn.follows === null ? undefined : byId.get(turn.follows)
  }
  if (turn?.replaced_by !== null) return path
  return [...turns.slice(0, turns.indexOf(turn) + 1).filter(isShown), ...path]
}

/** The turn and those that came after it in the conversation, until now or until they were replaced together. */
export function fromTurn<T extends Turn>(turns: readonly T[], runId: string): T[] {
  const isShownNow = turns.some((turn) => turn.run_id === runId && isShown(turn))
  const conversation = isShownNow ? turns.filter(isShown) : branchOf(turns, runId)
  return conversation.slice(conversation.findIndex((turn) => turn.run_id === runId))
}

/** A new run takes the place of the turn and of all later ones. `shown`: at least these and the turn before them. */
export function replacement<T extends Turn>(shown: readonly T[], runId: string, by: string): TurnChange<T> {
  const place = shown.findIndex((turn) => turn.run_id === runId)
  return { back: [], away: shown.slice(place), marks: toMarks(shown, shown.slice(place), by), place }
}

/** The replaced turn becomes part of the conversation again. */
export function restoration<T extends Turn>(turns: readonly T[], runId: string): TurnChange<T> {
  const branch = branchOf(turns, runId)
  const shown = turns.filter(isShown)
  const away = shown.filter((turn) => !branch.includes(turn))
  const back = branch.filter((turn) => turn.replaced_by !== null)
  const place = away[0] === undefined ? shown.length : shown.indexOf(away[0])
  return { back, away, marks: [...back.map(unmarked), ...toMarks(shown, away, runId)], place }
}

/** A run that said nothing gives back the place of the turns that it replaced; undefined when it holds none. */
export function withdrawal<T extends Turn>(turns: readonly T[], runId: string): TurnChange<T> | undefined {
  const own = turns.find((turn) => turn.run_id === runId)
  let first = own?.replaced_by === null ? firstReplacedBy(turns, runId) : undefined
  if (own === undefined || first === undefined) return undefined
  // A run that was replaced before it said anything held the place for those before it.
  for (let earlier = first; earlier.isBarren; first = earlier) {
    const next = firstReplacedBy(turns, earlier.run_id)
    if (next === undefined) break
    earlier = next
  }
  const { back } = restoration(turns, first.run_id)
  const shown = turns.filter(isShown)
  const place = shown.indexOf(own)
  return { back, away: [own], marks: [...back.map(unmarked), ...toMarks(shown, [own], first.run_id)], place }
}

export interface StandingTurn extends Turn {
  status: RunStatus
}

/** A turn of the session that stands in the way of a change. */
export function busyTurn<T extends StandingTurn>(turns: readonly T[], { away }: TurnChange<T>): T | undefined {
  return turns.find(({ status }) => !isEnded(status)) ?? away.find(({ status }) => status === 'input_required')
}

/** Undefined when the run is a try that may become a turn. */
export function whyNotKept(run: { isTry: boolean; isChild: boolean; status: RunStatus } | undefined) {
  if (run === undefined) return { outcome: 'missing' } satisfies TryNotKept
  if (!run.isTry || run.isChild) return { outcome: 'no_try' } satisfies TryNotKept
  const { status } = run
  return isEnded(status) && status !== 'input_required' ? undefined : { outcome: 'unfinished' as const, status }
}

/** For a try that should go, and is none that has ended (any more). */
export function tryGone(runId: string): AppError {
  return new AppError('conflict', `The try '${runId}' has been kept or deleted meanwhile.`, { runId })
}

/**
 * How the conversation changes when a try, which is not among the turns, takes the place of one of them: as if it were a
 * replaced turn in that place which is restored. `own`: as it is stored first.
 */
export function keeping<T extends StandingTurn>(
  turns: readonly T[],
  kept: T,
  turnId: string,
): { change: TurnChange<T>; own: MarkedTurn } | Exclude<TryKept, TryNotKept | { outcome: 'kept' }> {
  const turn = turns.find(({ run_id }) => run_id === turnId)
  if (turn === undefined) return { outcome: 'turn_missing' }
  if (turn.replaced_by !== null) return { outcome: 'replaced', by: turn.replaced_by }
  if (kept.isBarren) return { outcome: 'silent' }
  const shown = turns.filter(isShown)
  const follows = shown[shown.indexOf(turn) - 1]?.run_id ?? null
  const own = { run_id: kept.run_id, replaced_by: turnId, follows }
  const change = restoration([...turns, { ...kept, ...own }], kept.run_id)
  const busy = busyTurn(turns, change)
  return busy === undefined ? { change, own } : { outcome: 'busy', run_id: busy.run_id }
}

/** Whether the summary may repeat what the turn at this place of the conversation said. */
export function covers(summary: Pick<Summary, 'run_count' | 'created_at'>, place: number, turn: Turn): boolean {
  return place < summary.run_count || turn.created_at <= summary.created_at
}

/** The turns before it, the turn, and those after it that were replaced together with it. */
function branchOf<T extends Turn>(turns: readonly T[], runId: string): T[] {
  const branch = pathTo(turns, runId)
  const by = branch.at(-1)?.replaced_by
  for (let last = branch.at(-1); last !== undefined; ) {
    const { run_id } = last
    last = turns.findLast((turn) => turn.follows === run_id && turn.replaced_by === by)
    if (last !== undefined && !branch.includes(last)) branch.push(last)
    else break
  }
  return branch
}

function isShown(turn: Turn): boolean {
  return turn.replaced_by === null
}

function firstReplacedBy<T extends Turn>(turns: readonly T[], runId: string): T | undefined {
  return turns.find((turn) => turn.replaced_by === runId && turn.run_id !== runId)
}

function unmarked({ run_id, follows }: Turn): MarkedTurn {
  return { run_id, replaced_by: null, follows }
}

function toMarks(shown: readonly Turn[], away: readonly Turn[], by: string): MarkedTurn[] {
  return away.map((turn) => {
    const follows = shown[shown.indexOf(turn) - 1]?.run_id ?? null
    return { run_id: turn.run_id, replaced_by: by, follows }
  })
}
