import { createSerial } from '../../runtime/serial.ts'
import type { Connection } from '../sqlite/connection.ts'
import { classify } from '../sqlite/failure.ts'
import { inTransaction } from '../sqlite/transaction.ts'

export interface Writer {
  /** Reads on the writing connection between transactions, for a database that only one connection can see. */
  read<T>(work: (connection: Connection) => Promise<T>): Promise<T>
  /** Atomic, and durable when it resolves. The work is repeated after a rollback. */
  transaction<T>(work: (connection: Connection) => Promise<T>): Promise<T>
  /** The error of the last transaction, if it could not be written. */
  failure(): unknown
  /** Resolves when all work so far has ended. */
  idle(): Promise<void>
  close(): Promise<void>
}

interface PendingWork {
  run(connection: Connection): Promise<void>
  succeed(): void
  fail(error: unknown): void
}

const batchSize = 8

/** Work that waits for a transaction shares the next one. `onRollback` clears caches of what was rolled back. */
export function openWriter(connection: Connection, onRollback: () => void): Writer {
  const queue = createSerial()
  let waiting: PendingWork[] = []
  let failure: unknown

  const commitBatch = async (batch: readonly PendingWork[]): Promise<void> => {
    try {
      await inTransaction(connection, async () => {
        for (const each of batch) await each.run(connection)
      })
    } catch (error) {
      onRollback()
      throw error
    }
  }
  const writeBatch = async (batch: readonly PendingWork[]): Promise<void> => {
    try {
      await commitBatch(batch)
      failure = undefined
      for (const each of batch) each.succeed()
    } catch (error) {
      if (batch.length === 1) {
        if (classify(error) !== 'constraint') failure = error
        batch[0]?.fail(error)
      } else for (const each of batch) await writeBatch([each])
    }
  }

  return {
    read: (work) => queue.run(() => work(connection)),
    transaction<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
      const done = new Promise<T>((resolve, reject) => {
        let result: { value: T } | undefined
        waiting.push({
          run: async (target) => {
            result = { value: await work(target) }
          },
          succeed: () => result && resolve(result.value),
          fail: reject,
        })
      })
      void queue.run(async () => {
        const batch = waiting.slice(0, batchSize)
        waiting = waiting.slice(batchSize)
        if (batch.length > 0) await writeBatch(batch)
      })
      return done
    },
    failure: () => failure,
    idle: queue.idle,
    close: () => connection.close(),
  }
}
