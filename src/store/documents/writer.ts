import { createSerial } from '../../runtime/serial.ts'
import type { Connection } from '../sqlite/connection.ts'
import { classify } from '../sqlite/failure.ts'
import { inTransaction } from '../sqlite/transaction.ts'

/** The one connection that writes. */
export interface Writer {
  /** Works between the transactions on the same connection, for a database that only one connection can see. */
  read<T>(work: (connection: Connection) => Promise<T>): Promise<T>
  /** Whole or not at all, durable when it resolves. The work may be done more than once, each time after a rollback. */
  transaction<T>(work: (connection: Connection) => Promise<T>): Promise<T>
  /** Of the last transaction, when it could not be written. */
  failure(): unknown
  /** When all that was asked for is done. */
  idle(): Promise<void>
  close(): Promise<void>
}

interface Waiting {
  run(connection: Connection): Promise<void>
  succeed(): void
  fail(error: unknown): void
}

const groupSize = 8

/** Work that waits while another transaction is at work shares the next one. `onRollback` forgets what was not kept. */
export function openWriter(connection: Connection, onRollback: () => void): Writer {
  const queue = createSerial()
  let waiting: Waiting[] = []
  let failure: unknown

  const runAll = async (group: readonly Waiting[]): Promise<void> => {
    try {
      await inTransaction(connection, async () => {
        for (const each of group) await each.run(connection)
      })
    } catch (error) {
      onRollback()
      throw error
    }
  }
  const settle = async (group: readonly Waiting[]): Promise<void> => {
    try {
      await runAll(group)
      failure = undefined
      for (const each of group) each.succeed()
    } catch (error) {
      if (group.length === 1) {
        if (classify(error) !== 'constraint') failure = error
        group[0]?.fail(error)
      } else for (const each of group) await settle([each])
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
        const group = waiting.slice(0, groupSize)
        waiting = waiting.slice(groupSize)
        if (group.length > 0) await settle(group)
      })
      return done
    },
    failure: () => failure,
    idle: queue.idle,
    close: () => connection.close(),
  }
}
