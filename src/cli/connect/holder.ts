import type { FolderOwner } from '../../core/access/server-file.ts'
import { AppError } from '../../core/error.ts'
import { version } from '../../core/version.ts'
import { terminalLine } from '../terminal/text.ts'
import { localTime } from '../terminal/when.ts'

/** The error of a command that can't have the folder: who has it, since when, and why that is no help. */
export function heldBy(dataFolder: string, owner: FolderOwner | undefined, why: string): AppError {
  const advice = 'Wait until it is done, stop it, or name another folder with --data.'
  if (owner === undefined || !isAlive(owner.pid))
    return new AppError('conflict', `Another agentserve is using ${dataFolder}. ${advice}`)
  return new AppError('conflict', `${dataFolder} is in use by ${nameOf(owner)}, ${why}. ${advice}`)
}

/** Throws unless the owner of the folder is of this version. */
export function assertSameVersion(dataFolder: string, owner: FolderOwner): void {
  if (owner.version === version) return
  const theirs = terminalLine(owner.version)
  throw new AppError(
    'conflict',
    `${dataFolder} is in use by ${nameOf(owner)} of agentserve ${theirs}, and this is agentserve ${version}. Stop it, or use the same version.`,
  )
}

export function nameOf({ command, pid, started_at: since }: FolderOwner): string {
  const start = terminalLine(process.stderr.isTTY ? localTime(since) : since).slice(0, 40)
  const when = start === '' ? '' : `, since ${start}`
  return `\`agentserve ${terminalLine(command).slice(0, 40)}\` (process ${pid}${when})`
}

/** What a killed process has left tells nothing about the one that has the folder now. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
