import type { ServerHint } from '../../core/access/server-file.ts'
import { pause } from '../../runtime/abort.ts'
import type { OwnedFolder } from '../../server.ts'
import { say } from '../terminal/output.ts'
import { terminalLine } from '../terminal/text.ts'
import { assertSameVersion, heldBy, isAlive, nameOf } from './holder.ts'
import { lookForServer, sayIgnored } from './running-server.ts'

export interface FolderPlace<T> {
  dataFolder: string
  /** Of this command, such as `chat`. */
  command: string
  /** Uses the server that owns the folder. Undefined: it is of no use, and the next owner is waited for. */
  connect(running: ServerHint): Promise<T | undefined>
  /** Becomes the owner. A failure releases the lock. */
  own(folder: OwnedFolder): Promise<T>
  /** How long another process may keep the folder without serving. Default 5 s. */
  patienceMs?: number | undefined
  /** How long until the next look. Default 100 ms. */
  pauseMs?: number | undefined
  /** What to say of an owner that keeps it longer. */
  why?: string | undefined
  signal: AbortSignal
}

/** How long an owner may take to start. Loading a config has a limit of ten seconds. */
const startMs = 15_000
/** How long it may take to answer, at least, and when it has just started. */
const leastMs = 250
const answerMs = 2_000

/**
 * The one place that decides who serves a data folder: connects to the process that owns it, or becomes its owner. Any number of
 * commands may call it at once; one gets the lock and the others find it. Throws `conflict` with who has the folder when that
 * process does not serve in time, or is of another version.
 */
export async function ownOrConnect<T>(place: FolderPlace<T>): Promise<T> {
  const { dataFolder, command, signal, patienceMs = 5_000, pauseMs = 100 } = place
  const since = performance.now()
  const end = since + patienceMs
  let isTold = false
  for (;;) {
    signal.throwIfAborted()
    const { running, owner, isStarting, ignored } = await lookForServer(
      dataFolder,
      Math.max(isTold ? answerMs : leastMs, end - performance.now()),
    )
    if (running !== undefined) {
      assertSameVersion(dataFolder, running)
      const connected = await place.connect(running)
      if (connected !== undefined) return connected
    }
    const { lockFolder } = await import('../../server/folder/lock.ts')
    const folder = await lockFolder(dataFolder, command)
    if (folder !== undefined) {
      sayIgnored(dataFolder, ignored)
      try {
        return await place.own(folder)
      } catch (error) {
        await folder.lock.release()
        throw error
      }
    }
    if (performance.now() >= end) {
      const isToCome = isStarting === true && owner !== undefined && isAlive(owner.pid)
      if (!isToCome || performance.now() >= since + startMs)
        throw heldBy(dataFolder, owner, place.why ?? ignored ?? 'which does not serve it')
      if (!isTold) say(`Waiting for ${nameOf(owner)}, which is starting on ${terminalLine(dataFolder)}.`)
      isTold = true
    }
    await pause(pauseMs, signal)
  }
}
