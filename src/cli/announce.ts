import { relative } from 'node:path'
import type { ResolvedConfig } from '../config/types.ts'
import { version } from '../core/version.ts'
import { printJson, say } from './output.ts'
import { terminalLine } from './terminal-text.ts'

export interface Bound {
  url: string
  host: string
  port: number
}

/** Says what is served and where: for people on stderr, with `json` one line for programs on stdout. */
export function announce(config: ResolvedConfig, bound: Bound, json: boolean, watching: boolean): void {
  const { prefix, a2aPrefix, healthPath } = config.server
  const entities = [...config.entities].map(([id, { kind }]) => ({ id, kind }))
  const { url, host, port } = bound
  if (json) {
    const { dataFolder: data_folder, file: config_file = null } = config
    printJson({ url, host, port, pid: process.pid, version, config_file, data_folder, entities })
    return
  }
  const first = entities[0]?.id
  const rows = [
    ['config', config.file === undefined ? 'none: docs over ./docs and the README, and echo' : here(config.file)],
    [
      'serving',
      entities.map(({ id, kind }) => (kind === 'agent' ? id : `${id} (${kind})`)).join(', ') || 'no agents yet',
    ],
    ['data', here(config.dataFolder)],
    ['api', url + prefix],
    ['a2a', url + a2aPrefix],
    ['docs', `${url}/docs`],
    ['health', url + healthPath],
  ]
  say(`agentserve ${version} at ${url}`)
  for (const [name, value] of rows) say(`  ${name?.padEnd(8)}${terminalLine(value ?? '')}`)
  if (first !== undefined) say(`Talk to it: agentserve chat ${terminalLine(first)}`)
  if (watching) say('Watching the config; Ctrl-C stops.')
}

function here(path: string): string {
  const shorter = relative(process.cwd(), path)
  return shorter === '' || shorter.startsWith('..') ? path : shorter
}
