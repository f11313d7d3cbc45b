import { randomBytes } from 'node:crypto'
import { chmod, chown, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { copyBinaries } from './binaries.ts'
import { owner, runProgram } from './run-program.ts'

/** The superuser and the role that programs use, which owns a database of its name. They have the same password. */
export const admin = 'postgres'
export const role = 'agentserve'

export interface Kit {
  binaries: string
  password: string
  /** Puts a new cluster at this path, whose parent belongs to the user of Postgres. */
  copyCluster(path: string): Promise<void>
}

/** Binaries and an empty cluster below this folder, made by the first who asks. Processes may ask at the same time. */
export async function openKit(folder: string): Promise<Kit> {
  const path = join(folder, 'kit')
  return (await readKit(path)) ?? makeKit(folder, path)
}

async function makeKit(folder: string, path: string): Promise<Kit> {
  const own = await mkdtemp(join(folder, 'making-'))
  try {
    await chmod(own, 0o711)
    await copyBinaries(join(own, 'native'))
    await initialize(own)
    await rename(own, path)
  } catch (error) {
    await rm(own, { recursive: true, force: true })
    // Another process was faster.
    const made = await readKit(path)
    if (made === undefined) throw error
    return made
  }
  return openKit(folder)
}

async function readKit(path: string): Promise<Kit | undefined> {
  const password = await readFile(join(path, 'password'), 'utf8').catch(() => undefined)
  if (password === undefined) return undefined
  return {
    binaries: join(path, 'native', 'bin'),
    password,
    copyCluster: (target) => runProgram('cp', ['-R', join(path, 'cluster'), target], owner),
  }
}

async function initialize(folder: string): Promise<void> {
  const place = join(folder, 'cluster')
  const passwordFile = join(folder, 'password')
  const password = randomBytes(18).toString('base64url')
  await mkdir(place, { mode: 0o700 })
  await writeFile(passwordFile, password, { mode: 0o600 })
  await giveToPostgres(place)
  await giveToPostgres(passwordFile)
  const binaries = join(folder, 'native', 'bin')
  // Each connection computes the iterations twice, which takes longer than what most tests do on it.
  const iterations = 'scram_iterations=64'
  await runProgram(
    join(binaries, 'initdb'),
    [
      ...['-D', place, '-U', admin, '--pwfile', passwordFile, '--auth', 'scram-sha-256', '--set', iterations],
      ...['--encoding', 'UTF8', '--locale', 'C', '--wal-segsize', '4', '--no-data-checksums'],
      ...['--no-sync', '--no-instructions'],
    ],
    owner,
  )
  const single = ['--single', '-D', place, '-c', 'fsync=off', 'postgres']
  await runProgram(
    join(binaries, 'postgres'),
    single,
    owner,
    `CREATE ROLE ${role} LOGIN CREATEDB PASSWORD '${password}'\nCREATE DATABASE ${role} OWNER ${role}\n`,
  )
  if (owner.uid !== undefined) await chown(passwordFile, 0, 0)
}

export async function giveToPostgres(path: string): Promise<void> {
  if (owner.uid !== undefined && owner.gid !== undefined) await chown(path, owner.uid, owner.gid)
}
