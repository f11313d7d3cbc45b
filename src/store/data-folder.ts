import { chmod, mkdir, open, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '../core/error.ts'
import { Connection } from './sqlite/connection.ts'

export interface FolderLock {
  release(): Promise<void>
}

/**
 * Makes the caller the one owner of a folder of data (made if need be, for its user alone). The lock is the kernel's, on
 * `lock.db`: it goes with the process, however that ends. Throws `conflict` while another process holds it.
 */
export async function lockDataFolder(folder: string): Promise<FolderLock> {
  const path = join(folder, 'lock.db')
  try {
    if ((await mkdir(folder, { recursive: true, mode: 0o700 })) !== undefined) await chmod(folder, 0o700)
    await (await open(path, 'a', 0o600)).close()
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new AppError('unavailable', `The data folder ${folder} can't be written: ${reason}.`, { cause: error })
  }
  const connection = await Connection.open({ path, readonly: false, busyTimeoutMs: 0 })
  try {
    await connection.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    await connection.close()
    if ((error as NodeJS.ErrnoException).code !== 'SQLITE_BUSY') throw error
    throw new AppError('conflict', `Another agentserve owns the data folder ${folder}.`, { cause: error })
  }
  return { release: () => connection.close() }
}

/** What a running server tells of itself to other commands. It is a hint: only the lock proves who owns the folder. */
export interface ServerHint {
  pid: number
  url: string
  version: string
  started_at: string
}

const hintFile = 'server.json'

export async function writeServerHint(folder: string, hint: ServerHint): Promise<void> {
  const path = join(folder, hintFile)
  await writeFile(`${path}.new`, `${JSON.stringify(hint)}\n`, { mode: 0o600 })
  await rename(`${path}.new`, path)
}

/** Undefined when there is none, or none that can be read. */
export async function readServerHint(folder: string): Promise<ServerHint | undefined> {
  try {
    const hint = JSON.parse(await readFile(join(folder, hintFile), 'utf8')) as Partial<ServerHint> | null
    return typeof hint?.url === 'string' && typeof hint.pid === 'number' ? (hint as ServerHint) : undefined
  } catch {
    return undefined
  }
}

export async function removeServerHint(folder: string): Promise<void> {
  await rm(join(folder, hintFile), { force: true })
}
