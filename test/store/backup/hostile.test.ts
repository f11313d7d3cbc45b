import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { archive } from '../../../src/store/backup/archive.ts'
import { type Manifest, manifestName } from '../../../src/store/backup/manifest.ts'
import { restoreArchive } from '../../../src/store/backup/restore.ts'
import { TarReader, tarEnd, tarHeader, tarPadding } from '../../../src/store/backup/tar.ts'
import { createDocumentStore } from '../../../src/store/documents/store.ts'
import { sqliteStore } from '../../../src/store/sessions/sqlite/store.ts'
import { Connection } from '../../../src/store/sqlite/connection.ts'
import { startOf } from '../../contract/session-store/builders.ts'

type Files = [name: string, bytes: Buffer][]

let folder: string
let whole: Files
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agentserve-hostile-'))
  const path = join(folder, 'agentserve.db')
  const store = sqliteStore({ path })
  await store.open()
  await store.startRun(startOf({ text: 'hello' }))
  const documents = createDocumentStore({ path: join(folder, 'knowledge.db') })
  await documents.open()
  await documents.ensureCollection('default', { provider: 'lexical', model: 'lexical', dimensions: 8 })
  const databases = [
    { name: 'agentserve.db', path },
    { name: 'knowledge/knowledge.db', path: join(folder, 'knowledge.db') },
  ]
  whole = await filesOf(archive({ folder: join(folder, 'data'), databases, version: '1.2.3', clock: Date.now }))
  await documents.close()
  await store.close()
})
afterAll(() => rm(folder, { recursive: true }))

async function filesOf(source: AsyncIterable<Uint8Array>): Promise<Files> {
  const reader = new TarReader(source)
  const files: Files = []
  for (let member = await reader.next(); member !== undefined; member = await reader.next()) {
    const pieces: Uint8Array[] = []
    for await (const piece of reader.bytes(member)) pieces.push(piece)
    files.push([member.name, Buffer.concat(pieces)])
  }
  return files
}

async function restore(files: Files): Promise<unknown> {
  const pieces = files.flatMap(([name, bytes]) => [tarHeader(name, bytes.length, 0), bytes, tarPadding(bytes.length)])
  await writeFile(join(folder, 'changed.tar'), Buffer.concat([...pieces, tarEnd]))
  const dataFolder = join(folder, 'restored')
  try {
    await restoreArchive({ file: join(folder, 'changed.tar'), dataFolder, signal: new AbortController().signal })
    return 'restored'
  } catch (error) {
    expect(await readdir(folder)).not.toContain('restored')
    return (error as Error).message
  } finally {
    await rm(dataFolder, { recursive: true, force: true })
    expect((await readdir(folder)).filter((name) => name.includes('.restore-'))).toEqual([])
  }
}

/** The archive with another manifest, or with another session database that the manifest describes rightly. */
function changed(change: (manifest: Manifest) => void, database?: Buffer): Files {
  const [[, text] = ['', Buffer.alloc(0)], ...members] = whole
  const manifest = JSON.parse(text.toString()) as Manifest
  const files = members.map(([name, bytes]): Files[number] => [
    name,
    name === 'agentserve.db' ? (database ?? bytes) : bytes,
  ])
  const [sessions] = manifest.members
  if (database !== undefined && sessions !== undefined) {
    sessions.size = database.length
    sessions.sha256 = createHash('sha256').update(database).digest('hex')
  }
  change(manifest)
  return [[manifestName, Buffer.from(JSON.stringify(manifest))], ...files]
}

const first = (manifest: Manifest) => manifest.members[0] as Manifest['members'][number]

it('restores what was not changed', async () => {
  expect(await restore(whole)).toBe('restored')
})

it.each<[string, () => Files, string]>([
  ['without a manifest', () => whole.slice(1), 'does not begin with a manifest'],
  ['a manifest that is none', () => [[manifestName, Buffer.from('[]')], ...whole.slice(1)], 'no manifest'],
  ['a newer manifest', () => changed((m) => Object.assign(m, { version: 2 })), 'a newer agentserve'],
  ['a name outside', () => changed((m) => Object.assign(first(m), { name: '../agentserve.db' })), 'unknown files'],
  ['an absolute name', () => changed((m) => Object.assign(first(m), { name: '/etc/passwd' })), 'unknown files'],
  ['a server.json', () => changed((m) => Object.assign(first(m), { name: 'server.json' })), 'unknown files'],
  ['a name twice', () => changed((m) => m.members.push(first(m))), 'twice'],
  ['a size below zero', () => changed((m) => Object.assign(first(m), { size: -1 })), 'malformed'],
  ['another size', () => changed((m) => Object.assign(first(m), { size: first(m).size + 1 })), 'a different size'],
  [
    'another hash',
    () => changed((m) => Object.assign(first(m), { sha256: '0'.repeat(64) })),
    'does not match its checksum',
  ],
  ['another version', () => changed((m) => Object.assign(first(m), { schema_version: 1 })), 'a different version'],
  ['a file more', () => [...whole, ['extra', Buffer.from('x')]], 'does not name'],
  ['a file less', () => whole.slice(0, 2), 'not at the place that the manifest says'],
  ['a file that is no database', () => changed(() => {}, Buffer.from('no database'.repeat(500))), 'damaged'],
])('refuses an archive with %s, and leaves nothing', async (_, files, reason) => {
  expect(await restore(files())).toContain(reason)
})

it.each([
  ['a trigger', 'CREATE TRIGGER steal AFTER INSERT ON runs BEGIN DELETE FROM sessions; END'],
  ['a view in place of a table', 'ALTER TABLE claims RENAME TO hidden; CREATE VIEW claims AS SELECT * FROM hidden'],
  ['another table', 'CREATE TABLE extra (x)'],
  ['a table less', 'DROP TABLE summary_jobs'],
  ['another application id', 'PRAGMA application_id = 1'],
  ['a version that is not there yet', 'PRAGMA user_version = 99'],
])('refuses a session database with %s', async (_, sql) => {
  const path = join(folder, 'changed.db')
  await writeFile(path, whole[1]?.[1] as Buffer)
  const connection = await Connection.open({ path, readonly: false, busyTimeoutMs: 0 })
  await connection.exec(sql)
  await connection.close()
  const version = sql.includes('99') ? 99 : undefined
  const files = changed((m) => version && Object.assign(first(m), { schema_version: version }), await readFile(path))
  expect(await restore(files)).toMatch(
    /tables that agentserve does not create|not a database of agentserve|newer agentserve/,
  )
})

it('leaves nothing of the folders that a refused restore has made, and others as they were', async () => {
  const file = join(folder, 'none.tar')
  await writeFile(file, 'no archive')
  const refused = async (dataFolder: string) => {
    const { signal } = new AbortController()
    await expect(restoreArchive({ file, dataFolder, signal })).rejects.toThrow(/./)
  }
  await refused(join(folder, 'new', 'inside', 'data'))
  expect(await readdir(folder)).not.toContain('new')
  const there = join(folder, 'there')
  await mkdir(there)
  await refused(join(there, 'data'))
  await refused(there)
  expect(await readdir(there)).toEqual([])
  await writeFile(join(there, 'mine'), 'x')
  await refused(there)
  expect(await readdir(there)).toEqual(['mine'])
  await writeFile(join(there, 'lock.db'), '')
  await refused(there)
  expect((await readdir(there)).sort()).toEqual(['lock.db', 'mine'])
})

it('refuses a session database that is damaged inside', async () => {
  const bytes = Buffer.from(whole[1]?.[1] as Buffer)
  bytes.fill(0xff, 3 * 4096, 6 * 4096)
  expect(await restore(changed(() => {}, bytes))).toContain('damaged')
})
