import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import type { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'

export interface ArchiveFile {
  path: string
  bytes: Buffer
}

const block = 512
const maxFileBytes = 1_500_000

/** The wanted files of a Debian or npm package, by path. Links are left out, and so are files that are too large for documentation. */
export async function readArchive(
  archive: string,
  wanted: (path: string) => boolean,
  maxBytes = maxFileBytes,
): Promise<ArchiveFile[]> {
  const files: ArchiveFile[] = []
  const { stream, ended } = open(archive)
  for await (const file of readTar(stream, (path, size) => size <= maxBytes && wanted(path))) files.push(file)
  await ended
  return files.sort((one, other) => (one.path < other.path ? -1 : 1))
}

function open(archive: string): { stream: Readable; ended: Promise<void> } {
  if (!archive.endsWith('.deb'))
    return { stream: createReadStream(archive).pipe(createGunzip()), ended: Promise.resolve() }
  const child = spawn('dpkg-deb', ['--fsys-tarfile', archive], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'close').then(([code]) => {
    if (code !== 0) throw new Error(`dpkg-deb can't read ${archive}: exit code ${code}`)
  })
  return { stream: child.stdout, ended }
}

async function* readTar(
  stream: AsyncIterable<Buffer>,
  wanted: (path: string, size: number) => boolean,
): AsyncGenerator<ArchiveFile> {
  const take = reader(stream)
  let longPath: string | undefined
  for (;;) {
    const head = await take(block, true)
    if (head === undefined || head[0] === 0) break
    const size = Number.parseInt(textOf(head, 124, 12).trim() || '0', 8)
    const type = String.fromCharCode(head[156] ?? 0)
    const padded = Math.ceil(size / block) * block
    if (type === 'L' || type === 'x') {
      const extra = (await take(padded, true))?.toString('utf8', 0, size) ?? ''
      longPath = type === 'L' ? extra.replace(/\0.*$/s, '') : (/(?:^|\n)\d+ path=([^\n]*)/.exec(extra)?.[1] ?? longPath)
      continue
    }
    const prefix = textOf(head, 257, 5) === 'ustar' ? textOf(head, 345, 155) : ''
    const short = textOf(head, 0, 100)
    const path = (longPath ?? (prefix && !/^[\d ]+$/.test(prefix) ? `${prefix}/${short}` : short)).replace(/^\.\//, '')
    longPath = undefined
    const isWanted = (type === '0' || type === '\0') && wanted(path, size)
    const bytes = await take(padded, isWanted)
    if (isWanted && bytes) yield { path, bytes: bytes.subarray(0, size) }
  }
  while ((await take(1 << 20, false)) !== undefined);
}

function textOf(bytes: Buffer, from: number, length: number): string {
  const text = bytes.toString('latin1', from, from + length)
  const end = text.indexOf('\0')
  return end < 0 ? text : text.slice(0, end)
}

/** Takes that many bytes from the stream; copies them only when they are kept. Undefined at its end. */
function reader(stream: AsyncIterable<Buffer>) {
  const chunks = stream[Symbol.asyncIterator]()
  let rest: Buffer = Buffer.alloc(0)
  return async (count: number, isKept: boolean): Promise<Buffer | undefined> => {
    const parts: Buffer[] = []
    for (let missing = count; ; ) {
      const part = rest.subarray(0, missing)
      rest = rest.subarray(part.length)
      if (isKept) parts.push(part)
      missing -= part.length
      if (missing === 0) return isKept ? Buffer.concat(parts) : part
      const next = await chunks.next()
      if (next.done) return undefined
      rest = next.value
    }
  }
}
