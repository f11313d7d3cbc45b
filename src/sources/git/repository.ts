import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { AppError } from '../../core/error.ts'
import type { GitAddress } from '../../core/knowledge/git-address.ts'
import { type AddressRules, checkedPlaces, checkedUrl } from '../../runtime/public-network.ts'
import { isGenerated, isWordless } from '../left-out.ts'
import { git } from './git.ts'
import { createBlobReader } from './reader.ts'

export interface FetchRepository {
  address: GitAddress
  rules: AddressRules
  /** What relative folders are relative to. */
  root: string
  /** Where what was fetched is kept for the next time; undefined: nowhere. */
  cache: string | undefined
  signal: AbortSignal
  /** Of what is fetched. Default: 500 MB. */
  maxBytes?: number
}

export interface RepositoryFile {
  /** From the top of the repository. */
  path: string
  bytes: number
  id: string
}

/** The files of one commit. */
export interface Repository {
  files: RepositoryFile[]
  read(file: RepositoryFile): Promise<Buffer>
  close(): Promise<void>
}

const ref = 'refs/agentserve/source'
const fetchTimeoutMs = 600_000
const shortTimeoutMs = 60_000
const sizeEveryMs = 500
const usualMaxBytes = 500_000_000

/** Fetches the newest commit of the ref, and nothing of its history. Its files are read from git: none is written out. */
export async function fetchRepository(options: FetchRepository): Promise<Repository> {
  const { address, cache, signal } = options
  const name = createHash('sha256')
    .update(`${address.repository}#${address.ref ?? ''}`)
    .digest('hex')
    .slice(0, 32)
  const folder = cache === undefined ? await mkdtemp(join(tmpdir(), 'agentserve-git-')) : join(cache, name)
  const discard = () => rm(folder, { recursive: true, force: true })
  try {
    const isOld = await stat(join(folder, 'HEAD')).then(
      () => true,
      () => false,
    )
    await fetchInto(folder, options).catch(async (error: unknown) => {
      if (signal.aborted || !isOld) throw error
      // What earlier fetches left may be in the way: one that was killed, or a history that grows.
      await discard()
      await fetchInto(folder, options)
    })
    const files = await listFiles(folder, address.folder, signal)
    const reader = createBlobReader(folder, signal)
    return {
      files,
      read: ({ id }) => reader.read(id),
      async close() {
        await reader.close()
        if (cache === undefined) await discard()
      },
    }
  } catch (error) {
    if (cache === undefined) await discard()
    throw error
  }
}

async function fetchInto(folder: string, options: FetchRepository): Promise<void> {
  const { address, root, signal, maxBytes = usualMaxBytes } = options
  const settings = await settingsOf(options)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await git(['init', '--quiet', '--bare', '--template=', '--', folder], { settings, signal, timeoutMs: shortTimeoutMs })
  const tooLarge = new AbortController()
  const watch = setInterval(() => {
    sizeOf(folder).then(
      (bytes) => bytes > maxBytes && tooLarge.abort(),
      // A file that went while it was looked at.
      () => {},
    )
  }, sizeEveryMs)
  try {
    const place = address.isFolder ? resolve(root, address.repository) : address.repository
    const flags = ['--quiet', '--depth=1', '--no-tags', '--no-recurse-submodules', '--no-auto-gc']
    const until = AbortSignal.any([signal, tooLarge.signal])
    const call = { folder, settings, signal: until, timeoutMs: fetchTimeoutMs }
    await git(['fetch', ...flags, '--', place, `+${address.ref ?? 'HEAD'}:${ref}`], call)
    if ((await sizeOf(folder)) > maxBytes) tooLarge.abort()
  } catch (error) {
    if (!tooLarge.signal.aborted) throw error
  } finally {
    clearInterval(watch)
  }
  if (tooLarge.signal.aborted)
    throw new AppError('payload_too_large', `The repository has more than ${maxBytes / 1e6} MB.`)
}

/** Lets git reach this repository only: its protocol, and the addresses of its host that were checked. */
async function settingsOf({ address, rules }: FetchRepository): Promise<Record<string, string>> {
  if (address.isFolder) return { 'protocol.file.allow': 'always' }
  const url = checkedUrl(address.repository, rules)
  const places = await checkedPlaces(url, rules)
  const port = url.port || (url.protocol === 'https:' ? '443' : '80')
  const { user, password } = address
  const login = Buffer.from(`${user}:${password}`).toString('base64')
  return {
    [`protocol.${url.protocol.slice(0, -1)}.allow`]: 'always',
    'http.curloptResolve': `${url.hostname}:${port}:${places.join(',')}`,
    ...(user === '' && password === '' ? {} : { [`http.${url.origin}/.extraHeader`]: `Authorization: Basic ${login}` }),
  }
}

async function listFiles(folder: string, below: string, signal: AbortSignal): Promise<RepositoryFile[]> {
  const paths = below === '' ? [] : [below]
  const call = { folder, signal, timeoutMs: shortTimeoutMs }
  const listed = await git(['ls-tree', '-r', '-l', '-z', '--full-tree', ref, '--', ...paths], call)
  const files: RepositoryFile[] = []
  for (const line of listed.toString('utf8').split('\0')) {
    const [, mode, kind, id = '', size, path = ''] = /^(\d+) (\w+) ([0-9a-f]+) +(\d+|-)\t([\s\S]*)$/.exec(line) ?? []
    // Links and submodules are not followed.
    if (kind === 'blob' && mode !== '120000' && !isLeftOut(path)) files.push({ path, bytes: Number(size), id })
  }
  return files
}

/** As in folders: what lies beside documents and is none. */
function isLeftOut(path: string): boolean {
  const isHidden = path.split('/').some((part) => part.startsWith('.') || part === 'node_modules')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a name with control characters could not be shown
  return isHidden || isWordless(path) || isGenerated(path) || /[\0-\x1f\x7f]/.test(path)
}

async function sizeOf(folder: string): Promise<number> {
  let bytes = 0
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) bytes += (await stat(join(entry.parentPath, entry.name))).size
  return bytes
}
