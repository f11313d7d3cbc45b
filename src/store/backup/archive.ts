import { createHash, randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, readdir, rm, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { AppError } from '../../core/error.ts'
import { timestamp } from '../../core/time.ts'
import { Connection } from '../sqlite/connection.ts'
import { copyBytes, copyFile } from '../sqlite/file-copy.ts'
import { assertSpace } from '../sqlite/space.ts'
import { createManifest, type ManifestMember, manifestName } from './manifest.ts'
import { tarEnd, tarHeader, tarPadding } from './tar.ts'

export interface ArchiveOptions {
  /** Holds the copies while the archive is written; no other process uses it. */
  folder: string
  /** Copied in this order, under these names. */
  databases: readonly { name: string; path: string }[]
  version: string
  clock: () => number
}

const piecesBytes = 256 * 1024
const folderPrefix = 'backup-'

/**
 * The archive of these databases, in pieces. Every database is copied before the first piece, each at its own moment.
 * Throws `storage_full` at once when the copies would not fit. The copies are always removed.
 */
export async function* archive({ folder, databases, version, clock }: ArchiveOptions): AsyncGenerator<Uint8Array> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  let bytes = 0
  for (const { path } of databases) bytes += await copyBytes(path)
  await assertSpace(folder, bytes, 'The backup')
  const copies = join(folder, `${folderPrefix}${randomUUID().slice(0, 8)}`)
  await mkdir(copies, { mode: 0o700 })
  try {
    const createdAtMs = clock()
    const members: (ManifestMember & { copy: string })[] = []
    for (const [number, { name, path }] of databases.entries()) {
      const copy = join(copies, `${number}-${basename(path)}`)
      await copyFile(path, copy)
      members.push({ name, ...(await describe(copy)), copy })
    }
    const named = members.map(({ copy: _copy, ...member }) => member)
    const manifest = Buffer.from(`${JSON.stringify(createManifest(version, timestamp(createdAtMs), named), null, 2)}\n`)
    yield Buffer.concat([tarHeader(manifestName, manifest.length, createdAtMs), manifest, tarPadding(manifest.length)])
    for (const { name, size, copy } of members) {
      yield tarHeader(name, size, createdAtMs)
      yield* createReadStream(copy, { highWaterMark: piecesBytes })
      yield tarPadding(size)
      await rm(copy)
    }
    yield tarEnd
  } finally {
    await rm(copies, { recursive: true, force: true })
  }
}

/** Removes what a killed backup has left. Only the folder's owner may call it. */
export async function removeLeftCopies(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    if (/^backup-[0-9a-f]{8}$/.test(name)) await rm(join(folder, name), { recursive: true, force: true })
  }
}

async function describe(copy: string): Promise<Omit<ManifestMember, 'name'>> {
  const hash = createHash('sha256')
  for await (const piece of createReadStream(copy, { highWaterMark: piecesBytes })) hash.update(piece)
  const { size } = await stat(copy)
  const connection = await Connection.open({ path: copy, readonly: true, busyTimeoutMs: 0 })
  try {
    const [row] = await connection.all('PRAGMA user_version')
    return { schema_version: Number(row?.user_version), size, sha256: hash.digest('hex') }
  } finally {
    await connection.close()
  }
}

/** One backup at a time: each needs disk space for a copy of all data. */
export function createBackups(options: ArchiveOptions): () => AsyncGenerator<Uint8Array> {
  let isRunning = false
  return async function* backup() {
    if (options.databases.length === 0)
      throw new AppError('conflict', 'All data is in memory. There is nothing to back up.')
    if (isRunning) throw new AppError('conflict', 'Another backup is in progress. Wait until it is done.')
    isRunning = true
    try {
      yield* archive(options)
    } finally {
      isRunning = false
    }
  }
}
