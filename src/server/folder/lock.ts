import { isAppError } from '../../core/error.ts'
import { lockDataFolder } from '../../store/data-folder.ts'
import type { OwnedFolder } from '../types.ts'
import { ownerOf } from './owner.ts'

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
