import type { FolderOwner } from '../../core/access/server-file.ts'
import { timestamp } from '../../core/time.ts'
import { version } from '../../core/version.ts'

/** What other commands are told about this process while it owns the folder. */
export function ownerOf(command: string, startedAtMs: number): FolderOwner {
  return { pid: process.pid, command, version, started_at: timestamp(startedAtMs) }
}
