import { createHash, randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { type FileHandle, mkdir, open, readdir, rename, rm, rmdir } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { AppError } from '../../core/error.ts'
import { lockDataFolder } from '../data-folder.ts'
import { assertSpace } from '../sqlite/space.ts'
import { type Manifest, type ManifestMember, manifestName, maxManifestBytes, parseManifest } from './manifest.ts'
import { type TarMember, TarReader } from './tar.ts'
import { verifyDatabase } from './verify.ts'

export interface RestoreOptions {
  /** The archive; its content is not trusted. */
  file: string
  dataFolder: string
  signal: AbortSignal
  onProgress?: ((doneBytes: number, totalBytes: number) => void) | undefined
}

const lockName = /^lock\.db(-journal)?$/

/**
 * Restores an archive into a new data folder. It is built and checked beside its target and renamed at the end, so a
 * failure leaves nothing. Throws `conflict` for a folder that is in use or not empty, `invalid_request` for a foreign
 * or incomplete archive, `storage_full`.
 */
export async function restoreArchive(options: RestoreOptions): Promise<Manifest> {
  const dataFolder = resolve(options.dataFolder)
  const lock = await lockDataFolder(dataFolder)
  const building = `${dataFolder}.restore-${randomUUID().slice(0, 8)}`
  let isRestored = false
  try {
    await assertEmpty(dataFolder)
    await removeLeft(dataFolder)
    await makeBeside(building)
    const manifest = await unpack(options, building)
    for (const member of manifest.members) {
      options.signal.throwIfAborted()
      await verifyDatabase(join(building, member.name), member)
    }
    await syncFolders(building, manifest)
    await takePlace(building, dataFolder)
    isRestored = true
    return manifest
  } finally {
    await rm(building, { recursive: true, force: true })
    await (isRestored ? lock.release() : lock.withdraw())
  }
}

async function assertEmpty(folder: string): Promise<void> {
  const names = (await readdir(folder)).filter((name) => !lockName.test(name))
  if (names.length === 0) return
  throw new AppError(
    'conflict',
    `The data folder '${folder}' is not empty (${names.slice(0, 3).join(', ')}): move it away, or name another with --data.`,
  )
}

/** Removes what a killed restore has left. The folder's lock excludes any other restore. */
async function removeLeft(dataFolder: string): Promise<void> {
  const parent = dirname(dataFolder)
  const prefix = `${basename(dataFolder)}.restore-`
  for (const name of await readdir(parent)) {
    if (name.startsWith(prefix) && /^[0-9a-f]{8}$/.test(name.slice(prefix.length)))
      await rm(join(parent, name), { recursive: true, force: true })
  }
}

async function makeBeside(folder: string): Promise<void> {
  try {
    await mkdir(folder, { mode: 0o700 })
  } catch (error) {
    const message = `The restore needs the folder '${folder}', which can't be created. With --data, name a data folder whose parent folder is writable.`
    throw new AppError('unavailable', message, { cause: error })
  }
}

async function unpack({ file, signal, onProgress }: RestoreOptions, building: string): Promise<Manifest> {
  const tar = new TarReader(createReadStream(file, { highWaterMark: 256 * 1024, signal }))
  const manifest = await readManifest(tar)
  const total = manifest.members.reduce((sum, { size }) => sum + size, 0)
  await assertSpace(building, total, 'Restoring the backup')
  let done = 0
  for (const member of manifest.members) {
    const found = await tar.next()
    if (found?.name !== member.name) throw damaged(`${member.name} is not at the place that the manifest says`)
    if (found.size !== member.size) throw damaged(`${member.name} has a different size than the manifest says`)
    await writeMember(tar, found, member, join(building, member.name), (bytes) => {
      done += bytes
      onProgress?.(done, total)
    })
  }
  if ((await tar.next()) !== undefined) throw damaged('it has files that the manifest does not name')
  return manifest
}

async function readManifest(tar: TarReader): Promise<Manifest> {
  const first = await tar.next()
  if (first?.name !== manifestName || first.size > maxManifestBytes) throw damaged('it does not begin with a manifest')
  const pieces: Uint8Array[] = []
  for await (const piece of tar.bytes(first)) pieces.push(piece)
  return parseManifest(Buffer.concat(pieces).toString('utf8'))
}

async function writeMember(
  tar: TarReader,
  found: TarMember,
  { name, sha256 }: ManifestMember,
  path: string,
  onBytes: (count: number) => void,
): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const hash = createHash('sha256')
  const file = await open(path, 'wx', 0o600)
  try {
    for await (const piece of tar.bytes(found)) {
      hash.update(piece)
      await writeAll(file, piece)
      onBytes(piece.length)
    }
    await file.sync()
  } finally {
    await file.close()
  }
  if (hash.digest('hex') !== sha256) throw damaged(`${name} does not match its checksum`)
}

async function writeAll(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let index = 0; index < bytes.length; ) index += (await file.write(bytes, index)).bytesWritten
}

/** A file's name is durable only when its folder is synced. */
async function syncFolders(building: string, { members }: Manifest): Promise<void> {
  const folders = new Set([building])
  for (const { name } of members) {
    for (let folder = dirname(join(building, name)); folder !== building; folder = dirname(folder)) folders.add(folder)
  }
  for (const folder of folders) await syncFolder(folder)
}

async function syncFolder(folder: string): Promise<void> {
  // Windows can't open a folder; there the rename is enough.
  if (process.platform === 'win32') return
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Fails if another process made the folder in the meantime: a folder with content is not replaced. */
async function takePlace(building: string, dataFolder: string): Promise<void> {
  try {
    for (const name of await readdir(dataFolder)) if (lockName.test(name)) await rm(join(dataFolder, name))
    await rmdir(dataFolder)
    await rename(building, dataFolder)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EBUSY' || code === 'EXDEV')
      throw new AppError(
        'conflict',
        `'${dataFolder}' is where a disk is mounted, so nothing can take its place: name a folder in it with --data.`,
        { cause: error },
      )
    const message = `'${dataFolder}' could not be put in place (${code}): another process uses it, or you may not write there.`
    throw new AppError('conflict', message, { cause: error })
  }
  await syncFolder(dirname(dataFolder))
}

function damaged(reason: string): AppError {
  return new AppError('invalid_request', `The backup was not restored: ${reason}.`)
}
