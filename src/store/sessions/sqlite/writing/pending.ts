import { type RunWrite, runIdOf } from '../../../rules/run-writes.ts'
import type { Connection } from '../../../sqlite/connection.ts'
import type { BatchItem, RunWriteOutcome } from './batch.ts'

/* The writer's queue, and which of its writes go into one batch. */

const maxWrites = 512

interface PendingCall<T> {
  resolve: (value: T) => void
  reject: (error: unknown) => void
  /** The caller's answer, given once the transaction is durable. */
  outcome?: { value: T } | { error: unknown }
}

export interface PendingWrite extends PendingCall<RunWriteOutcome> {
  write: RunWrite
  large: boolean
}
export interface PendingWork extends PendingCall<unknown> {
  work: (writer: Connection) => Promise<unknown>
  characters: number
}
export type Pending = PendingWrite | PendingWork

export interface PendingItem extends BatchItem {
  writes: PendingWrite[]
}

/** The longest prefix that fits one batch: each run at most once, except a start followed by its own end. A large write goes alone. */
export function takeBatch(waiting: readonly Pending[]): {
  items: PendingItem[]
  works: PendingWork[]
  count: number
  large: boolean
} {
  const first = waiting[0]
  if (first !== undefined && 'write' in first && first.large)
    return { items: [{ write: first.write, writes: [first] }], works: [], count: 1, large: true }
  const items = new Map<string, PendingItem>()
  const works: PendingWork[] = []
  let count = 0
  for (const one of waiting) {
    if (count === maxWrites) break
    if ('work' in one) works.push(one)
    else if (one.large) break
    else {
      const runId = runIdOf(one.write)
      const item = items.get(runId)
      if (item === undefined) items.set(runId, { write: one.write, writes: [one] })
      else if (isOwnEnd(item, one.write)) {
        item.end = one.write.end
        item.writes.push(one)
      } else break
    }
    count++
  }
  return { items: [...items.values()], works, count, large: false }
}

function isOwnEnd(item: PendingItem, write: RunWrite): write is Extract<RunWrite, { kind: 'finish' }> {
  return write.kind === 'finish' && write.end.fence === 1 && item.write.kind === 'start' && item.end === undefined
}
