import { relative } from 'node:path'
import type { ResolvedConfig } from '../../config/types.ts'
import { version } from '../../core/version.ts'
import { databaseOf, databaseOfKnowledge } from '../../server/database/database.ts'
import { servedModels } from '../../server/served/models.ts'
import { servedStudio } from '../../server/served-studio.ts'
import { hint } from '../terminal/called-as.ts'
import { printJson } from '../terminal/output.ts'
import type { Paint } from '../terminal/paint.ts'
import { terminalLine } from '../terminal/text.ts'

export interface Bound {
  url: string
  host: string
  port: number
}

/** Prints one JSON line on stdout: what is served and where. */
export function announceJson(config: ResolvedConfig, { url, host, port }: Bound): void {
  const entities = [...config.entities].map(([id, { kind }]) => ({ id, kind }))
  const { dataFolder: data_folder, file: config_file = null } = config
  const database = databaseOf(config.server.sessionStorage)
  const knowledge = databaseOfKnowledge(config.server.vectorDb) === undefined ? 'local' : 'shared'
  const storage = database && { storage: { type: database.type, place: database.place, knowledge } }
  const studio = studioUrl(config, url) ?? null
  printJson({ url, studio, host, port, pid: process.pid, version, config_file, data_folder, ...storage, entities })
}

export function announce(config: ResolvedConfig, { url }: Bound, print: (text: string) => void, paint: Paint): void {
  const { a2a, agUi, chat, openai, mcp, prefix, healthPath } = config.server
  print(`${paint.bold(`agentserve ${version}`)} at ${url}`)
  const row = (name: string, value: string) => print(formatRow(name, value, paint))
  row(
    'config',
    config.file === undefined
      ? 'none; serving docs (answers from ./docs and the README, or else from the files here) and echo'
      : here(config.file),
  )
  row('serving', servedIds(config))
  for (const { name, entityIds, reason } of servedModels(config)) {
    row('model', `${name} for ${entityIds.join(', ')}: ${reason}`)
  }
  const database = databaseOf(config.server.sessionStorage)
  if (database !== undefined) row('sessions', `Postgres at ${database.place}, shared with other servers`)
  const shared = databaseOfKnowledge(config.server.vectorDb)
  if (shared !== undefined) row('knowledge', `Postgres at ${shared.place}, shared with other servers`)
  else if (database !== undefined && config.server.vectorDb !== undefined)
    row('knowledge', 'only on this server: server.storage, or server.vectorDb, can share it')
  row('data', here(config.dataFolder))
  const studio = studioUrl(config, url)
  if (studio !== undefined) row('studio', studio)
  row('api', url + prefix)
  row('a2a', `${a2a.publicUrl ?? url}${a2a.prefix}/agents`)
  if (chat) row('usechat', `${url}${prefix}/chat/<agent>`)
  if (agUi) row('ag-ui', `${url}${prefix}/ag-ui/<agent>`)
  if (openai) row('openai', url + openai.prefix)
  if (mcp) row('mcp', url + mcp.path)
  row('docs', `${url}/docs`)
  row('health', url + healthPath)
  const first = config.entities.keys().next().value
  if (first !== undefined) print(`Try it: ${hint(`chat ${terminalLine(first)}`)}`)
}

/** Undefined where the studio is not served. */
export function studioUrl({ server }: ResolvedConfig, url: string): string | undefined {
  const path = servedStudio(server)
  return path === undefined ? undefined : url + path
}

export function formatRow(name: string, value: string, paint: Paint): string {
  return `  ${paint.dim(name.padEnd(10))}${terminalLine(value)}`
}

export function servedIds({ entities }: ResolvedConfig): string {
  const ids = [...entities].map(([id, { kind }]) => (kind === 'agent' ? id : `${id} (${kind})`))
  return ids.join(', ') || 'no agents yet'
}

function here(path: string): string {
  const shorter = relative(process.cwd(), path)
  return shorter === '' || shorter.startsWith('..') ? path : shorter
}
