import { lstat, mkdir, open, readFile, rename, rm, rmdir, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type FolderOwner, maxServerFileBytes, type ServerHint, serverFileName } from '../core/access/server-file.ts'
import { AppError } from '../core/error.ts'
import { Connection } from './sqlite/connection.ts'
import { classify } from './sqlite/failure.ts'

export interface DataFolderLock {
  /** Lets another process own the folder. May be called twice. */
  release(): Promise<void>
  /** Releases it, and removes what was made for it: its file, and folders that are still empty. */
  withdraw(): Promise<void>
}

/**
 * Makes this process the only owner of the folder, which is created (0700) if it is missing. The kernel releases the
 * lock when the process dies. With an `owner`, `server.json` tells others about it until the release. Throws `conflict`
 * when another process is the owner, `unavailable` when the folder can't be written.
 */
export async function lockDataFolder(folder: string, owner?: FolderOwner): Promise<DataFolderLock> {
  const path = join(folder, 'lock.db')
  const made: string[] = []
  let isNew: boolean
  try {
    await makeFolder(folder, made)
    isNew = await makeFile(path)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new AppError('unavailable', `The data folder '${folder}' can't be written: ${reason}.`, { cause: error })
  }
  const connection = await Connection.open({ path, readonly: false, busyTimeoutMs: 0 })
  try {
    await connection.exec('PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE')
  } catch (error) {
    await connection.close()
    if (classify(error) !== 'busy') throw error
    const message = `${await ownerIn(folder)} owns the data folder '${folder}'. Stop it, or name another folder.`
    throw new AppError('conflict', message, { cause: error })
  }
  // It is only told: on a full disk, whoever has the folder must still be able to read it.
  if (owner !== undefined) await writeServerHint(folder, owner).catch(() => {})
  let released: Promise<void> | undefined
  const release = async () => {
    if (owner !== undefined) await removeServerHint(folder)
    await connection.exec('ROLLBACK')
    await connection.close()
  }
  return {
    release() {
      released ??= release()
      return released
    },
    async withdraw() {
      try {
        // Before the release: the file of the next owner must not be removed.
        if (isNew) for (const file of [path, `${path}-journal`]) await rm(file, { force: true })
        for (const one of made) await rmdir(one)
      } catch {
        // What can't be removed stays: why it is withdrawn matters more.
      } finally {
        released ??= release()
        await released
      }
    },
  }
}

/** As the owner calls itself; a process that has died is not meant. */
async function ownerIn(folder: string): Promise<string> {
  const unknown = 'Another agentserve'
  const path = join(folder, serverFileName)
  try {
    const there = await lstat(path)
    if (!there.isFile() || there.size > maxServerFileBytes) return unknown
    const { pid, command, started_at } = JSON.parse(await readFile(path, 'utf8')) as FolderOwner
    if (typeof command !== 'string') return unknown
    process.kill(pid, 0)
    return `\`agentserve ${command}\` (process ${pid}, since ${started_at})`
  } catch {
    return unknown
  }
}

/**
 * Puts each folder that it makes before those that are around it. Not mkdir's `recursive`: it never ends on a file
 * system that always answers ENOENT (/proc).
 */
async function makeFolder(folder: string, made: string[]): Promise<void> {
  try {
    await mkdir(folder, { mode: 0o700 })
    made.unshift(folder)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') return
    if (code !== 'ENOENT' || (await isThere(dirname(folder)))) throw error
    await makeFolder(dirname(folder), made)
    await mkdir(folder, { mode: 0o700 })
    made.unshift(folder)
  }
}

/** Whether it was missing. Throws when it can't be written. */
async function makeFile(path: string): Promise<boolean> {
  try {
    await (await open(path, 'ax', 0o600)).close()
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    await (await open(path, 'a', 0o600)).close()
    return false
  }
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}

/** Replaces the hint atomically, readable only by its owner. */
export async function writeServerHint(folder: string, hint: FolderOwner | ServerHint): Promise<void> {
  const path = join(folder, serverFileName)
  const next = `${path}.new`
  // An existing file would keep its mode, and its creator could read the secret.
  await rm(next, { force: true })
  await writeFile(next, `${JSON.stringify(hint)}\n`, { mode: 0o600, flag: 'wx' })
  await rename(next, path)
}

export async function removeServerHint(folder: string): Promise<void> {
  await rm(join(folder, serverFileName), { force: true })
}
