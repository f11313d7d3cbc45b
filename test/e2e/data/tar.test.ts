import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { TarReader, tarEnd, tarHeader, tarPadding } from '../../../src/store/backup/tar.ts'

function archiveOf(files: Record<string, Buffer>): Buffer {
  const pieces = Object.entries(files).flatMap(([name, bytes]) => [
    tarHeader(name, bytes.length, 1_700_000_000_000),
    bytes,
    tarPadding(bytes.length),
  ])
  return Buffer.concat([...pieces, tarEnd])
}

async function* inPieces(bytes: Uint8Array, length: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length)
}

async function readAll(bytes: Uint8Array, length = 1_000): Promise<Record<string, Buffer>> {
  const reader = new TarReader(inPieces(bytes, length))
  const files: Record<string, Buffer> = {}
  for (let member = await reader.next(); member !== undefined; member = await reader.next()) {
    const pieces: Uint8Array[] = []
    for await (const piece of reader.bytes(member)) pieces.push(piece)
    files[member.name] = Buffer.concat(pieces)
  }
  return files
}

it('an archive gives back what was put in, whatever pieces it comes in', async () => {
  const files = {
    'a.json': Buffer.from('{}'),
    'b/c.db': Buffer.alloc(5_000, 7),
    empty: Buffer.alloc(0),
    full: Buffer.alloc(512, 1),
  }
  for (const length of [1, 511, 512, 513, 100_000]) expect(await readAll(archiveOf(files), length)).toEqual(files)
})

it('tar reads what is written, and what tar writes can be read', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'agentserve-tar-'))
  const run = (...args: string[]) => promisify(execFile)('tar', args, { cwd: folder })
  await writeFile(join(folder, 'ours.tar'), archiveOf({ 'hello.txt': Buffer.from('hello') }))
  await run('-xf', 'ours.tar')
  expect(await readFile(join(folder, 'hello.txt'), 'utf8')).toBe('hello')
  expect((await stat(join(folder, 'hello.txt'))).mode & 0o777).toBe(0o600)
  await run('--format=ustar', '-cf', 'theirs.tar', 'hello.txt')
  expect(await readAll(await readFile(join(folder, 'theirs.tar')))).toEqual({ 'hello.txt': Buffer.from('hello') })
  await rm(folder, { recursive: true })
})

it.each([0, 511, 8 ** 11 - 1, 8 ** 11, 9_000_000_000, 5_000_000_000_000])('says a size of %d bytes', async (size) => {
  const reader = new TarReader(inPieces(tarHeader('large.db', size, 0), 512))
  expect(await reader.next()).toEqual({ name: 'large.db', size })
})

it.each([
  ['a link', (header: Buffer) => header.write('2', 156), 'entries that are not plain files'],
  ['a folder', (header: Buffer) => header.write('5', 156), 'entries that are not plain files'],
  ['an extended header', (header: Buffer) => header.write('x', 156), 'entries that are not plain files'],
  ['a prefix', (header: Buffer) => header.write('../../etc', 345), 'too long'],
  ['a size that is none', (header: Buffer) => header.write('77777777zzz', 124), 'not a number'],
  ['a size below zero', (header: Buffer) => header.fill(0xff, 124, 136), 'not a number'],
])('refuses %s', async (_, change, reason) => {
  const header = tarHeader('file', 0, 0)
  change(header)
  header.write('        ', 148)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\u0000 `, 148)
  await expect(readAll(Buffer.concat([header, tarEnd]))).rejects.toThrow(reason)
})

it('refuses a header whose checksum is wrong, and an archive that is cut', async () => {
  const whole = archiveOf({ file: Buffer.alloc(600, 1) })
  const changed = Buffer.from(whole)
  changed[0] = 0x41
  await expect(readAll(changed)).rejects.toThrow('checksum')
  for (const length of [0, 100, 512, 1_000, 1_536])
    await expect(readAll(whole.subarray(0, length))).rejects.toThrow('too early')
})
