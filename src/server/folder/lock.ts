import { isAppError } from '../../core/error.ts'
import { timestamp } from '../../core/time.ts'
import { version } from '../../core/version.ts'
import { type FolderOwner, lockDataFolder } from '../../store/data-folder.ts'
import type { OwnedFolder } from '../types.ts'

/** Makes this process the owner of the data folder; undefined while another one is. */
export async function lockFolder(dataFolder: string, command: string): Promise<OwnedFolder | undefined> {
  const owner = ownerOf(command, Date.now())
  try {
    return { lock: await lockDataFolder(dataFolder, owner), owner }
  } catch (error) {
    if (isAppError(error) && error.code === 'conflict') return undefined
    throw error
  }
}

/** What other commands are told about this process while it owns the folder. */
export function ownerOf(command: string, startedAtMs: number): FolderOwner {
  return { pid: process.pid, command, version, started_at: timestamp(startedAtMs) }
}
