import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { silentLogger } from '../../../src/core/logger.ts'
import { hashTools } from '../../../src/runnables/mcp/tool-hash.ts'
import { ToolRecord } from '../../../src/runnables/mcp/tool-record.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agentserve-record-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const record = (identity = 'calc') => new ToolRecord('calc', identity, folder)
const tools = (hashes: Record<string, string>) => new Map(Object.entries(hashes))
const changed = async (of: ToolRecord, hashes: Record<string, string>, keep = true) =>
  [...(await of.changed(tools(hashes), silentLogger, keep))].sort()
const files = async () => (await readdir(join(folder, 'mcp-tools'))).map((name) => join(folder, 'mcp-tools', name))

it('knows over a restart what was listed first, and what differs from it', async () => {
  expect(await changed(record(), { add: '1', sub: '2' })).toEqual([])
  const again = record()
  expect(await changed(again, { add: '1', sub: '2' })).toEqual([])
  expect(await changed(again, { add: 'x', sub: '2', fresh: '3' })).toEqual(['add'])
  expect(await changed(record(), { add: '1', sub: 'y', fresh: 'z' })).toEqual(['fresh', 'sub'])
  expect(await changed(record('another of this name'), { add: 'x' })).toEqual([])
})

it('takes what is confirmed by another process, and asks again when that changes', async () => {
  const serving = record()
  await changed(serving, { add: '1', sub: '2' })
  expect(await changed(serving, { add: 'x', sub: '2' })).toEqual(['add'])
  await record().accept(tools({ add: 'x', sub: '2' }), silentLogger)
  expect(await changed(serving, { add: 'x', sub: '2' })).toEqual([])
  expect(await changed(serving, { add: '1', sub: '2' })).toEqual(['add'])
  expect(await changed(record(), { add: 'x', sub: '2' })).toEqual([])
})

it('trusts nothing that a damaged file may have known, until it is confirmed', async () => {
  await changed(record(), { add: '1' })
  const [file] = await files()
  for (const damage of ['', '{"tools":[["add"', '{}', '{"tools":[["add",1]]}', 'null']) {
    await writeFile(String(file), damage)
    expect(await changed(record(), { add: '1', other: '2' })).toEqual(['add', 'other'])
    expect(await readFile(String(file), 'utf8')).toBe(damage)
  }
  const serving = record()
  expect(await changed(serving, { add: '1' })).toEqual(['add'])
  await record().accept(tools({ add: '1' }), silentLogger)
  expect(await changed(serving, { add: '1', later: '2' })).toEqual([])
  expect(await changed(record(), { add: '1', later: 'x' })).toEqual(['later'])
  const confirmed = (await files()).find((name) => name.includes('confirmed'))
  await writeFile(String(confirmed), 'broken')
  expect(await changed(record(), { add: '1' })).toEqual(['add'])
})

it('loses nothing when several write at once, and leaves no drafts behind', async () => {
  const serving = record()
  await Promise.all(
    Array.from({ length: 20 }, async (_, place) => {
      await changed(serving, { [`tool${place}`]: String(place) })
      await record().accept(tools({ shared: 'same' }), silentLogger)
    }),
  )
  const all = Object.fromEntries(Array.from({ length: 20 }, (_, place) => [`tool${place}`, `${place}!`]))
  expect(await changed(record(), all)).toHaveLength(20)
  expect((await files()).filter((name) => name.endsWith('.tmp'))).toEqual([])
})

it('is for the user alone, whatever the server is called', async () => {
  const odd = new ToolRecord('../../up\u0000 and away', '../x', folder)
  await odd.changed(tools({ ['__proto__']: '1', add: '2' }), silentLogger)
  expect([
    ...(await new ToolRecord('../../up\u0000 and away', '../x', folder).changed(
      tools({ ['__proto__']: 'x', add: '2' }),
      silentLogger,
    )),
  ]).toEqual(['__proto__'])
  const [file] = await files()
  expect((await stat(String(file))).mode & 0o777).toBe(0o600)
  expect((await stat(join(folder, 'mcp-tools'))).mode & 0o777).toBe(0o700)
})

it('looks without leaving a trace, and lasts as long as the object without a folder', async () => {
  expect(await changed(record(), { add: '1' }, false)).toEqual([])
  await expect(files()).rejects.toThrow('ENOENT')
  const inMemory = new ToolRecord('calc', 'calc', undefined)
  expect(await changed(inMemory, { add: '1' })).toEqual([])
  expect(await changed(inMemory, { add: 'x' })).toEqual(['add'])
  await inMemory.accept(tools({ add: 'x' }), silentLogger)
  expect(await changed(inMemory, { add: 'x' })).toEqual([])
  expect(await changed(inMemory, { add: '1' })).toEqual(['add'])
})

it('trusts nothing where it can not look', async () => {
  await writeFile(join(folder, 'mcp-tools'), 'in the way')
  const serving = record()
  expect(await changed(serving, { add: '1' })).toEqual(['add'])
  await expect(record().accept(tools({ add: '1' }), silentLogger)).rejects.toThrow(/EEXIST|ENOTDIR/)
})

it('stands for name, description and input schema, in whatever order they are written', () => {
  const hash = (tool: object) => [...hashTools([tool as Parameters<typeof hashTools>[0][0]]).values()][0]
  const schema = { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } } }
  const same = { properties: { b: { type: 'number' }, a: { type: 'number' } }, type: 'object' }
  const add = { name: 'add', description: 'Adds', inputSchema: schema }
  expect(hash({ inputSchema: same, description: 'Adds', name: 'add', title: 'other' })).toBe(hash(add))
  expect(hash({ ...add, description: 'Adds more' })).not.toBe(hash(add))
  expect(hash({ ...add, name: 'sub' })).not.toBe(hash(add))
  expect(hash({ ...add, inputSchema: { ...schema, required: ['a'] } })).not.toBe(hash(add))
})
