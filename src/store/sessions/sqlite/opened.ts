import type { AppError } from '../../../core/error.ts'
import type { Logger } from '../../../core/logger.ts'
import { Checkpoints, checkpointWaitMs } from '../../sqlite/checkpoints.ts'
import type { Connection } from '../../sqlite/connection.ts'
import { openConnection, openDatabase, type Synchronous } from '../../sqlite/open-database.ts'
import { Shrinking } from '../../upkeep/shrinking.ts'
import { createUnusedContents } from './files/delete.ts'
import { ContentSweep } from './files/sweep.ts'
import { Removal } from './hidden/removal.ts'
import { Reads } from './reads.ts'
import { sessionsDatabase } from './schema/database.ts'
import { HiddenSessions, listHidden } from './schema/hidden.ts'
import { Search } from './search/search.ts'
import { searchPathOf } from './search/search-file.ts'
import { createHotWrites } from './writing/batch-insert.ts'
import { KnownRows } from './writing/known-rows.ts'
import { Writer } from './writing/writer.ts'

export interface OpenOptions {
  path: string
  synchronous: Synchronous
  logger: Logger
  now: () => string
  onFatal: (error: AppError) => void
  maxReadBytes: number | undefined
}

/** An open database: its writer, its readers, and the background work on it. */
export interface Opened {
  writer: Writer
  reads: Reads
  known: KnownRows
  hidden: HiddenSessions
  removal: Removal
  search: Search
  /** Call it after a deletion: deletes contents that no file has, removes deleted data from the WAL and shrinks the file. */
  reclaim(): void
  close(): Promise<void>
}

export async function openStore(options: OpenOptions): Promise<Opened> {
  const connections: Connection[] = []
  try {
    return await openWith(connections, options)
  } catch (error) {
    for (const connection of connections) await connection.close().catch(() => {})
    throw error
  }
}

async function openWith(connections: Connection[], options: OpenOptions): Promise<Opened> {
  const { path, synchronous, logger, now } = options
  const connect = async (readonly: boolean) => {
    const connection = await openConnection(path, sessionsDatabase, synchronous, readonly)
    connections.push(connection)
    return connection
  }
  const connection = await openDatabase(path, sessionsDatabase, synchronous)
  connections.push(connection)
  await connection.exec(createHotWrites)
  await connection.exec(createUnusedContents)
  const opening = [connect(false), connect(true), connect(true)] as const
  // A failure closes them, so none may still be on its way.
  await Promise.allSettled(opening)
  const [checkpointing, ...readers] = await Promise.all(opening)
  await checkpointing.all(`PRAGMA busy_timeout = ${checkpointWaitMs}`)
  const checkpoints = new Checkpoints({
    connection: checkpointing,
    logger,
    onBroken: (error) => writer.stop(error),
    nudge: () => void writer.work(async () => {}).catch(() => {}),
  })
  const hidden = new HiddenSessions()
  const reads = new Reads(readers, hidden, options.maxReadBytes)
  const known = new KnownRows(hidden)
  const writer = new Writer({
    path,
    connection,
    known,
    now,
    onFatal: (error) => {
      logger.error({ error, path }, 'the session database failed and is no longer used')
      options.onFatal(error)
    },
    afterCommit: (writes, characters) => checkpoints.afterCommit(writes, characters),
  })
  const search = new Search({
    path: searchPathOf(path),
    openSource: () => openConnection(path, sessionsDatabase, synchronous, true),
    logger,
  })
  const shrinking = new Shrinking({
    work: (work) => writer.work(work),
    writes: () => writer.writes,
    onDone: () => checkpoints.empty(),
    logger,
  })
  let isClosing = false
  const reclaim = () => {
    if (isClosing) return
    sweep.wake()
    checkpoints.empty()
    shrinking.wake()
  }
  const sweep = new ContentSweep({
    work: (work, characters) => writer.work(work, characters),
    onSwept: () => {
      checkpoints.empty()
      shrinking.wake()
    },
    logger,
  })
  const removal = new Removal({
    hidden,
    work: (work, characters) => writer.work(work, characters),
    onRemoved: (runs, isDone) => {
      search.forget(runs)
      // Not after each step: the writer waits while the WAL is emptied.
      if (isDone) reclaim()
    },
    logger,
  })
  const left = await listHidden(connection)
  for (const id of left) hidden.add(id)
  removal.add(left)
  // A killed process may have left deleted data in the file and its WAL.
  reclaim()
  search.forgetLeft()

  async function close(): Promise<void> {
    isClosing = true
    await removal.close()
    await sweep.close()
    await shrinking.close()
    await checkpoints.close()
    await writer.idle()
    await search.close()
    // The writer's connection is closed last: the last one to close moves the WAL into the file.
    for (const connection of connections.reverse()) await connection.close()
  }

  return { writer, reads, known, hidden, removal, search, reclaim, close }
}
