import { timestamp } from '../../core/time.ts'
import { version } from '../../core/version.ts'
import type { FolderOwner } from '../../store/data-folder.ts'

/** What other commands are told about this process while it owns the folder. */
export function ownerOf(command: string, startedAtMs: number): FolderOwner {
  return { pid: process.pid, command, version, started_at: timestamp(startedAtMs) }
}
