import { constants } from 'node:fs'
import { type FileHandle, open, stat } from 'node:fs/promises'
import { networkInterfaces } from 'node:os'
import { dirname, isAbsolute } from 'node:path'
import { type FolderOwner, maxServerFileBytes, type ServerHint } from '../../core/access/server-file.ts'
import { isProofText, plainAddress } from '../../core/access/server-proof.ts'

/** `owner` alone: it does not serve yet. */
export type ServerFile = { hint: ServerHint } | { owner: FolderOwner } | { refusal: string } | undefined

const maskOfOthers = 0o066
const { O_RDONLY, O_NONBLOCK = 0, O_NOFOLLOW = 0 } = constants

/** Reads `server.json`; undefined when it does not exist. The file must belong to the user and be closed to others. */
export async function readServerFile(path: string): Promise<ServerFile> {
  let file: FileHandle | undefined
  try {
    // Neither a link nor a pipe: the checked file is the one that is read.
    file = await open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW)
    const { uid, mode, size } = await file.stat()
    if (size > maxServerFileBytes) return { refusal: 'it is too large' }
    const folder = await stat(dirname(path))
    // Windows has neither: the user's profile is closed to others, and elsewhere the proof decides.
    const user = process.geteuid?.()
    if (user !== undefined && folder.uid !== user) return { refusal: 'its folder belongs to another user' }
    if (user !== undefined && uid !== user) return { refusal: 'it belongs to another user' }
    if (user !== undefined && (mode & maskOfOthers) !== 0) {
      return { refusal: 'other users can read or write it (chmod 600 prevents that)' }
    }
    return readHint(await file.readFile('utf8'))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return code === 'ENOENT' || code === 'ENOTDIR' ? undefined : { refusal: `it can't be read (${code ?? error})` }
  } finally {
    await file?.close()
  }
}

function readHint(text: string): ServerFile {
  const hint = parse(text)
  if (hint === undefined || typeof hint.pid !== 'number') return { refusal: 'it is damaged' }
  const owner = {
    pid: hint.pid,
    command: word(hint.command) ?? 'server',
    version: word(hint.version) ?? 'unknown',
    started_at: word(hint.started_at) ?? '',
  }
  if (hint.secret === undefined && hint.url === undefined && hint.socket === undefined) return { owner }
  if (!isProofText(hint.secret)) return { refusal: 'it has no secret, so no server can prove that it wrote it' }
  const socket = socketPath(hint.socket)
  const url = socket === undefined ? ownUrl(hint.url) : undefined
  if (socket === undefined && url === undefined) return { refusal: 'it does not name an address of this machine' }
  const places = {
    config: word(hint.config),
    prefix: path(hint.prefix),
    a2a_prefix: path(hint.a2a_prefix),
    health_path: path(hint.health_path),
    mcp_path: hint.mcp_path === null ? null : path(hint.mcp_path),
  }
  return { hint: { ...owner, url, socket, secret: hint.secret, ...places, auth: hint.auth === true || undefined } }
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

function word(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' && value.length <= 4096 ? value : undefined
}

function path(value: unknown): string | undefined {
  return typeof value === 'string' && /^(?:\/[^\s?#]*)?$/.test(value) ? value : undefined
}

function socketPath(value: unknown): string | undefined {
  const given = word(value)
  return given !== undefined && isAbsolute(given) && !given.includes('\0') ? given : undefined
}

/** Undefined unless the URL has a literal address of this machine: a name may later resolve elsewhere. */
function ownUrl(value: unknown): string | undefined {
  const url = typeof value === 'string' ? URL.parse(value) : null
  if (url?.protocol !== 'http:' || url.href !== `http://${url.host}/`) return undefined
  const address = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const isLoopback = address === '::1' || /^127\.\d+\.\d+\.\d+$/.test(address)
  return isLoopback || ownAddresses().has(address) ? `http://${url.host}` : undefined
}

function ownAddresses(): Set<string> {
  const all = Object.values(networkInterfaces()).flatMap((addresses = []) => addresses)
  return new Set(all.map(({ address }) => plainAddress(address)))
}
