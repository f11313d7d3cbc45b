import { relative } from 'node:path'
import type { ResolvedConfig } from '../../config/types.ts'
import { version } from '../../core/version.ts'
import { servedModels } from '../../server/served-models.ts'
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
  printJson({ url, host, port, pid: process.pid, version, config_file, data_folder, entities })
}

export function announce(config: ResolvedConfig, { url }: Bound, print: (text: string) => void, paint: Paint): void {
  const { prefix, a2aPrefix, healthPath } = config.server
  print(`${paint.bold(`agentserve ${version}`)} at ${url}`)
  const row = (name: string, value: string) => print(formatRow(name, value, paint))
  row(
    'config',
    config.file === undefined ? 'none; serving docs (answers from ./docs and the README) and echo' : here(config.file),
  )
  row('serving', servedIds(config))
  for (const { name, entityIds, reason } of servedModels(config)) {
    row('model', `${name} for ${entityIds.join(', ')}: ${reason}`)
  }
  row('data', here(config.dataFolder))
  row('api', url + prefix)
  row('a2a', url + a2aPrefix)
  row('docs', `${url}/docs`)
  row('health', url + healthPath)
  const first = config.entities.keys().next().value
  if (first !== undefined) print(`Try it: ${hint(`chat ${terminalLine(first)}`)}`)
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
