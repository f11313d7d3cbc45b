import { mkdir, open, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { AppError } from '../core/error.ts'
import { Connection } from './sqlite/connection.ts'
import { classify } from './sqlite/failure.ts'

export interface DataFolderLock {
  /** Lets another process own the folder; twice is once. */
  release(): Promise<void>
}

/** Where the server that owns a folder can be found. Only a hint: the lock says whether there is one. */
export interface ServerHint {
  pid: number
  url: string
  version: string
  started_at: string
  /** Where its routes are, for a server that moved them. */
  prefix?: string | undefined
  a2a_prefix?: string | undefined
  health_path?: string | undefined
  /** By which the server proves that it has written this: 32 random bytes as base64url. */
  secret: string
  /** Its routes want a key. */
  auth?: true | undefined
}

const hintFile = 'server.json'

/**
 * Makes this process the folder's one owner; creates the folder (0700) when it is not there. The kernel lets go when the
 * process dies, however it dies. Throws `conflict` when another process is the owner, `unavailable` when it can't be written.
 */
export async function lockDataFolder(folder: string): Promise<DataFolderLock> {
  const path = join(folder, 'lock.db')
  try {
    await makeFolder(folder)
    await (await open(path, 'a', 0o600)).close()
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
    const message = `Another agentserve owns the data folder '${folder}'. Stop it, or name another folder.`
    throw new AppError('conflict', message, { cause: error })
  }
  let released: Promise<void> | undefined
  return {
    release() {
      released ??= connection.exec('ROLLBACK').then(() => connection.close())
      return released
    },
  }
}

// Not by mkdir's own `recursive`, which never ends where a file system answers ENOENT to whatever is made (/proc).
async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { mode: 0o700 })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') return
    if (code !== 'ENOENT' || (await isThere(dirname(folder)))) throw error
    await makeFolder(dirname(folder))
    await mkdir(folder, { mode: 0o700 })
  }
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}

/** Replaces the hint in one step, so that nobody reads half of it; only its owner may read it. */
export async function writeServerHint(folder: string, hint: ServerHint): Promise<void> {
  const path = join(folder, hintFile)
  const next = `${path}.new`
  // A file that is there already would keep its mode, and whoever made it could read the secret.
  await rm(next, { force: true })
  await writeFile(next, `${JSON.stringify(hint)}\n`, { mode: 0o600, flag: 'wx' })
  await rename(next, path)
}

export async function removeServerHint(folder: string): Promise<void> {
  await rm(join(folder, hintFile), { force: true })
}
