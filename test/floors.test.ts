import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { describe, expect, it } from 'vitest'
import { checkFloors, parseImports } from './support/floors.ts'

const sourceFolder = join(import.meta.dirname, '../src')

function readSources(): Map<string, string> {
  const files = new Map<string, string>()
  for (const entry of readdirSync(sourceFolder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !/(?<!\.d)\.tsx?$/.test(entry.name)) continue
    const path = join(entry.parentPath, entry.name)
    files.set(relative(sourceFolder, path).split(sep).join('/'), readFileSync(path, 'utf8'))
  }
  return files
}

const tree = (files: Record<string, string>) => checkFloors(new Map(Object.entries(files)))

describe('the floors of src', () => {
  it('are kept: no circles, no import upward or sideways, every library at home', () => {
    const sources = readSources()
    expect([...sources.keys()]).toContain('core/run.ts')
    expect(checkFloors(sources)).toEqual([])
  })
})

describe('what servers on one store need of each other', () => {
  it('is known to the peers alone, and to who puts the parts together', () => {
    const rooms = ['service/', 'api/', 'protocols/', 'http/', 'runnables/']
    const named = [...readSources()]
      .filter(
        ([file, source]) => rooms.some((room) => file.startsWith(room)) && /\bcluster\b|StoreCluster/.test(source),
      )
      .map(([file]) => file)
    // `changes.ts` makes a store of a store.
    expect(named.filter((file) => !file.startsWith('service/peers/'))).toEqual(['service/live/changes.ts'])
  })
})

describe('checkFloors', () => {
  it('is content with imports that point down', () => {
    const complaints = tree({
      'core/run.ts': "import type { Json } from './json.ts'\nimport type { LanguageModel } from 'ai'",
      'core/json.ts': 'export type Json = string',
      'store/sqlite/open.ts': "import sqlite3 from 'sqlite3'\nimport type { Run } from '../../core/run.ts'",
      'client/client.ts': "import type { Body } from '../wire/body.ts'",
      'wire/body.ts': "import { z } from 'zod'",
      'server.ts': "import { open } from './store/sqlite/open.ts'",
      'index.ts': "export { createServer } from './server.ts'\nexport { tool } from 'ai'",
    })
    expect(complaints).toEqual([])
  })

  it.each([
    ['upward', 'core/run.ts', "import { open } from '../store/memory.ts'", 'store/memory.ts'],
    ['sideways', 'store/memory.ts', "import { ok } from '../http/reply.ts'", 'http/reply.ts'],
    ['upward on first use', 'service/runs.ts', "const s = await import('../store/memory.ts')", 'store/memory.ts'],
    ['upward for a type', 'service/runs.ts', "import type { S } from '../store/memory.ts'", 'store/memory.ts'],
    ['a value where only types may pass', 'client/client.ts', "import { b } from '../wire/body.ts'", 'wire/body.ts'],
    ['into the CLI', 'server.ts', "import { main } from './cli/main.ts'", 'cli/main.ts'],
  ])('reports an import that goes %s', (_, file, source, target) => {
    expect(tree({ [file]: source, [target]: 'export {}' })).toEqual([`${file} must not import ${target}`])
  })

  it.each([
    ['up', 'cli/terminal/table.ts', '../command/exit.ts', 'cli/command/exit.ts: terminal is not above command'],
    [
      'sideways',
      'store/documents/a.ts',
      '../sessions/memory/b.ts',
      'store/sessions/memory/b.ts: documents is not above sessions/memory',
    ],
    [
      'from the words of a room into a folder',
      'core/run.ts',
      './text/terms.ts',
      'core/text/terms.ts: . is not above text',
    ],
  ])('reports an import that goes %s among the folders of a room, types excepted', (_, file, specifier, complaint) => {
    const [target = ''] = complaint.split(': ')
    expect(tree({ [file]: `import { a } from '${specifier}'`, [target]: '' })).toEqual([
      `${file} must not import ${complaint}`,
    ])
    expect(tree({ [file]: `import type { A } from '${specifier}'`, [target]: '' })).toEqual([])
  })

  it('reports a folder without a place', () => {
    const complaint = 'core/new/a.ts is in a folder that the table of floors does not name'
    expect(tree({ 'core/new/a.ts': '' })).toEqual([complaint])
  })

  it('reports a circle once, and lets types and first-use imports close one', () => {
    const closing = (last: string) => tree({ 'core/a.ts': "import { b } from './b.ts'", 'core/b.ts': last })
    expect(closing("import { a } from './a.ts'")).toEqual(['circle: core/a.ts → core/b.ts → core/a.ts'])
    expect(closing("import type { a } from './a.ts'")).toEqual([])
    expect(closing("const { a } = await import('./a.ts')")).toEqual([])
  })

  it.each([
    ['service/runs.ts', "import { eq } from 'drizzle-orm/sqlite-core'", 'drizzle-orm/sqlite-core'],
    ['knowledge/search.ts', "import { connect } from '@lancedb/lancedb'", '@lancedb/lancedb'],
    ['config/load.ts', "import { generateText } from 'ai'", 'ai'],
    ['api/runs.ts', "import { createServer } from 'node:http'", 'node:http'],
    ['server.ts', "const { render } = await import('ink')", 'ink'],
    ['service/runs.ts', "import { z } from 'zod'", 'zod'],
    ['service/runs.ts', "const sqlite3 = require('sqlite3')", 'sqlite3'],
  ])('reports a library away from home: %s %s', (file, source, library) => {
    expect(tree({ [file]: source })).toEqual([`${file} must not import ${library}`])
  })

  it('lets types of a library pass where the table says so', () => {
    expect(tree({ 'core/request.ts': "import type { IncomingHttpHeaders } from 'node:http'" })).toEqual([])
    expect(tree({ 'core/model.ts': "import type { LanguageModel } from 'ai'" })).toEqual([])
    expect(tree({ 'core/runnable.ts': "import type { ZodType } from 'zod'" })).not.toEqual([])
  })

  it('reports an inner barrel, a room without a floor and a file that is not there', () => {
    expect(tree({ 'core/index.ts': "export { a } from './a.ts'", 'core/a.ts': 'export const a = 1' })).toEqual([
      'core/index.ts passes on core/a.ts: only a door may',
    ])
    expect(tree({ 'utils/a.ts': "import '../core/a.ts'", 'core/a.ts': '' })).toEqual([
      'utils/a.ts is in a room that has no floor',
    ])
    expect(tree({ 'core/a.ts': "import './gone.ts'" })).toEqual(['core/a.ts imports ./gone.ts, which is not there'])
  })
})

describe('parseImports', () => {
  it('finds imports over several lines, side effects, re-exports and imports on first use', () => {
    const source = [
      "import {\n  a,\n  type B,\n} from './several.ts'",
      "import './side-effect.ts'",
      "import type { C } from './types.ts'",
      "import d, { e } from 'default'",
      "import * as all from 'star'",
      "export * from './all.ts'",
      "export type { F } from './type.ts'",
      "const lazy = async () => import('lazy')",
      "type Lazy = typeof import('lazy-type')",
      "let g: import('member').G",
    ].join('\n')
    expect(parseImports(source).map(({ specifier, kind }) => `${kind} ${specifier}`)).toEqual([
      'value ./several.ts',
      'value ./side-effect.ts',
      'type ./types.ts',
      'value default',
      'value star',
      'value ./all.ts',
      'type ./type.ts',
      'lazy lazy',
      'type lazy-type',
      'type member',
    ])
  })

  it('finds nothing in comments or in ordinary exports', () => {
    const source = [
      "// import { a } from './a.ts'",
      "/* import { b } from './b.ts'\n * import('./c.ts')\n */",
      "export const path = './d.ts'",
      "export function load() {\n  return 'from'\n}",
    ].join('\n')
    expect(parseImports(source)).toEqual([])
  })
})
