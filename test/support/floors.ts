/*
 * The floors of the house as a table, and a checker that holds a tree of sources against it. ARCHITECTURE.md explains them.
 */

/** `value` runs when the file is loaded, `lazy` when the line is reached, `type` never. */
export type ImportKind = 'value' | 'lazy' | 'type'

export interface Import {
  specifier: string
  kind: ImportKind
  reexport: boolean
}

/** What a room may import besides itself; in `types` only by `import type`. `*` is every room. */
interface Floor {
  rooms: readonly string[]
  types?: readonly string[]
  except?: readonly string[]
  /**
   * The folders of the room from top to bottom, `.` for the room itself: each imports from those below it. Folders that
   * share an entry do not import each other. A room without the list has no folders. Types pass freely inside a room.
   */
  folders?: readonly string[]
}

const ground = ['core', 'runtime']
const floors: Record<string, Floor> = {
  core: {
    rooms: [],
    folders: [
      'steps',
      'again knowledge cluster scoring triggers',
      'events',
      'text form markdown',
      'access memory entity',
      '.',
    ],
  },
  runtime: { rooms: ['core'] },
  schema: { rooms: ground },
  wire: { rooms: [...ground, 'schema'], folders: ['protocols copies', '.', 'document'] },
  http: { rooms: ground, folders: ['.', 'security', 'tokens', 'body'] },
  store: {
    rooms: ground,
    folders: [
      'cached',
      'backup',
      'documents/postgres',
      'sessions/sqlite',
      'sessions/sqlite/search sessions/sqlite/hidden',
      'sessions/postgres',
      'sessions/postgres/search sessions/postgres/cluster sessions/postgres/upkeep',
      'sessions/postgres/writing',
      'sessions/postgres/reading sessions/postgres/files',
      'sessions/sqlite/writing',
      'sessions/sqlite/reading sessions/sqlite/files',
      'sessions/memory documents vectors',
      'rules upkeep .',
      'sessions/rows',
      'sessions/sqlite/schema sessions/postgres/schema',
      'sqlite postgres',
    ],
  },
  knowledge: {
    rooms: ground,
    folders: [
      '.',
      'preparing',
      'rerankers',
      'vectors embedders readers',
      'readers/office readers/mail',
      'readers/markup',
      'chunkers',
      'words',
    ],
  },
  models: { rooms: ground, folders: ['prices', '.'] },
  sources: { rooms: ground, folders: ['web git', '.'] },
  runnables: {
    rooms: [...ground, 'schema', 'models', 'client'],
    folders: ['team workflow', 'agent mcp', 'model', 'again', 'tools', 'remote', 'files', 'limits', 'base'],
  },
  service: {
    rooms: [...ground, 'schema'],
    folders: [
      'live',
      'audit',
      'access',
      'again schedules webhooks',
      'notifications',
      'sessions',
      'peers',
      'runs',
      'execution',
      'repeating',
      'prompts',
      'events',
      'files',
      'limits knowledge',
      'knowledge/vectors',
      '.',
    ],
  },
  telemetry: { rooms: ground, types: ['service'] },
  config: { rooms: [...ground, 'schema'], types: ['*'], folders: ['load', '.', 'settings'] },
  web: { rooms: [] },
  api: {
    rooms: [...ground, 'wire', 'http', 'service', 'web'],
    folders: ['.', 'live', 'sessions knowledge server openapi', 'runs', 'runs/text', 'route'],
  },
  mcp: { rooms: ground, types: ['service'] },
  protocols: {
    rooms: [...ground, 'wire', 'http', 'service', 'web', 'mcp'],
    folders: ['a2a/official openai/completions openai/responses', 'a2a chat openai mcp ag-ui', '.'],
  },
  client: { rooms: ground, types: ['wire'], folders: ['.', 'transport'] },
  studio: {
    rooms: ['core', 'runtime', 'client'],
    types: ['wire'],
    folders: [
      '.',
      'views',
      'watch',
      'again file',
      'sessions conversation run knowledge agents tests search',
      'run/inspector conversation/files',
      'state',
      'state/sessions state/reading',
      'state/address state/server state/keys state/kept state/run',
      'parts',
      'parts/layout',
    ],
  },
  server: {
    rooms: ['*'],
    except: ['cli', 'client', 'index', 'studio'],
    folders: ['.', 'database knowledge remote served folder tests'],
  },
  cli: {
    rooms: [...ground, 'config', 'sources', 'client', 'server', 'testing', 'mcp'],
    folders: [
      '.',
      'commands',
      'commands/users',
      'commands/sessions commands/doctor commands/storage',
      'commands/runs',
      'browse dev init help mcp tests',
      'chat ingest connect',
      'chat/line chat/form chat/turn',
      'knowledge',
      'runs markdown welcome',
      'command',
      'terminal',
    ],
  },
  testing: { rooms: [...ground, 'schema', 'runnables', 'models', 'server'], types: ['config'] },
  index: { rooms: ['*'], except: ['cli', 'studio'] },
}

/** Where a library may be imported: folders end in `/`. `types` are the places where only its types are welcome. */
interface Home {
  library: string
  at: readonly string[]
  types?: readonly string[]
}

const everywhere = ['']
const homes: readonly Home[] = [
  { library: 'drizzle-orm', at: ['store/'] },
  { library: 'sqlite3', at: ['store/'] },
  { library: 'pg', at: ['store/postgres/'] },
  {
    library: '@lancedb/lancedb',
    at: ['knowledge/vectors/lancedb.ts', 'knowledge/vectors/lance-table.ts', 'knowledge/vectors/indexing.ts'],
  },
  { library: 'apache-arrow', at: ['knowledge/vectors/arrow.ts'] },
  { library: 'ai', at: ['models/', 'runnables/', 'knowledge/embedders/', 'testing/'], types: ['core/', 'config/'] },
  { library: 'jose', at: ['http/tokens/'] },
  { library: 'node:http', at: ['http/'], types: everywhere },
  { library: 'commander', at: ['cli/'] },
  { library: 'croner', at: ['runtime/cron.ts'] },
  { library: 'htmlparser2', at: ['sources/web/'] },
  { library: 'preact', at: ['studio/'] },
  { library: '@preact/signals', at: ['studio/'] },
  { library: 'ink', at: ['cli/'] },
  { library: 'zod', at: ['wire/', 'schema/', 'config/', 'runnables/'] },
  { library: 'ajv', at: ['schema/'] },
  { library: '@modelcontextprotocol/server', at: ['mcp/', 'protocols/mcp/', 'cli/mcp/'] },
]

/** The doors: the only files that may pass on what others export (types pass freely: they leave nothing behind). */
const doors = new Set(['index.ts', 'server.ts', 'client/index.ts', 'testing/index.ts'])

/** All that is wrong with a tree of sources (path below `src/` → text), one sentence each; empty when all is well. */
export function checkFloors(files: ReadonlyMap<string, string>): string[] {
  const complaints: string[] = []
  const edges = new Map<string, string[]>()
  for (const [file, source] of files) {
    const targets: string[] = []
    complaints.push(...checkListed(file))
    for (const found of parseImports(source)) {
      const target = resolve(file, found.specifier, files)
      if (target === undefined) complaints.push(...checkLibrary(file, found))
      else {
        complaints.push(...checkRoom(file, target, found))
        if (found.kind === 'value') targets.push(target)
      }
    }
    edges.set(file, targets)
  }
  return [...complaints, ...findCircles(edges)]
}

const staticImport = /^\s*(import|export)\s+(type\s+)?(?:[\w$*{][^'"`;=()]*?\sfrom\s*)?(['"])([^'"\n]+)\3/gm
const dynamicImport = /(typeof\s+)?\b(?:import|require)\(\s*(['"])([^'"\n]+)\2\s*,?[^)]*\)(\.[A-Z])?/g

/** Every import of a source text with literal specifier, `require` included. Comments don't count. */
export function parseImports(source: string): Import[] {
  const code = source.replace(/\/\*[\s\S]*?\*\//g, ' ').replace(/^\s*\/\/.*$/gm, '')
  const found: Import[] = []
  for (const [, keyword, type, , specifier = ''] of code.matchAll(staticImport)) {
    found.push({ specifier, kind: type ? 'type' : 'value', reexport: keyword === 'export' })
  }
  for (const [, typeOf, , specifier = '', member] of code.matchAll(dynamicImport)) {
    found.push({ specifier, kind: typeOf || member ? 'type' : 'lazy', reexport: false })
  }
  return found
}

/** A room is a folder of `src/`; a file in `src/` itself belongs to the room of its name (`server.ts` to `server/`). */
function roomOf(file: string): string {
  const slash = file.indexOf('/')
  return slash > 0 ? file.slice(0, slash) : file.replace(/\.tsx?$/, '')
}

function resolve(file: string, specifier: string, files: ReadonlyMap<string, string>): string | undefined {
  if (!specifier.startsWith('.')) return undefined
  const target = new URL(specifier, `file:///${file}`).pathname.slice(1)
  return files.has(target) ? target : undefined
}

function checkRoom(file: string, target: string, found: Import): string[] {
  const from = roomOf(file)
  const to = roomOf(target)
  const complaints: string[] = []
  if (found.reexport && found.kind === 'value' && !doors.has(file))
    complaints.push(`${file} passes on ${target}: only a door may`)
  if (from === to) return found.kind === 'type' ? complaints : [...complaints, ...checkFolder(file, target)]
  const floor = floors[from]
  if (floor === undefined) return [...complaints, `${file} is in a room that has no floor`]
  const allowed = found.kind === 'type' ? [...floor.rooms, ...(floor.types ?? [])] : floor.rooms
  const open = allowed.includes('*') || allowed.includes(to)
  if (!open || floor.except?.includes(to)) complaints.push(`${file} must not import ${target}`)
  return complaints
}

function folderOf(file: string): string {
  return file.split('/').slice(1, -1).join('/') || '.'
}

/** From the top, 0 on; -1 for a folder that the table does not name. */
function levelOf(room: string, folder: string): number {
  const folders = floors[room]?.folders ?? ['.']
  return folders.findIndex((level) => level.split(' ').includes(folder))
}

function checkListed(file: string): string[] {
  const room = roomOf(file)
  if (!(room in floors) || levelOf(room, folderOf(file)) >= 0) return []
  return [`${file} is in a folder that the table of floors does not name`]
}

function checkFolder(file: string, target: string): string[] {
  const [from, to] = [folderOf(file), folderOf(target)]
  const room = roomOf(file)
  if (from === to || levelOf(room, from) < levelOf(room, to)) return []
  return [`${file} must not import ${target}: ${from} is not above ${to}`]
}

function checkLibrary(file: string, found: Import): string[] {
  if (found.specifier.endsWith('.json')) return []
  if (found.specifier.startsWith('.')) return [`${file} imports ${found.specifier}, which is not there`]
  for (const { library, at, types = [] } of homes) {
    if (found.specifier !== library && !found.specifier.startsWith(`${library}/`)) continue
    const allowed = found.kind === 'type' ? [...at, ...types] : at
    // The public door passes on what belongs to the user's vocabulary, such as the AI SDK's `tool`.
    if (file === 'index.ts' && found.reexport) return []
    if (!allowed.some((place) => file.startsWith(place))) return [`${file} must not import ${found.specifier}`]
  }
  return []
}

/** Circles of imports that run when a file is loaded, each told once, from its first file on. */
function findCircles(edges: ReadonlyMap<string, readonly string[]>): string[] {
  const circles: string[] = []
  const done = new Set<string>()
  const trail: string[] = []
  const visit = (file: string): void => {
    if (done.has(file)) return
    const start = trail.indexOf(file)
    if (start >= 0) {
      circles.push(`circle: ${[...trail.slice(start), file].join(' → ')}`)
      return
    }
    trail.push(file)
    for (const target of edges.get(file) ?? []) visit(target)
    trail.pop()
    done.add(file)
  }
  for (const file of edges.keys()) visit(file)
  return circles
}
