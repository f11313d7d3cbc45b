import { resolve } from 'node:path'
import { fromEnvFile, fromEnvironment } from '../../config/environment.ts'
import { version } from '../../core/version.ts'
import { UsageError } from '../command/exit.ts'
import type { ConnectOptions } from '../command/flags.ts'
import { findDataFolder } from '../connect/project.ts'
import { findRunningServer } from '../connect/running-server.ts'
import { hint, packageManager } from '../terminal/called-as.ts'
import { print, printJson, say } from '../terminal/output.ts'
import { type Host, type HostName, hosts, type ProgramEntry, type UrlEntry } from './hosts.ts'

export interface PrintOptions extends ConnectOptions {
  agent?: string[]
  http?: boolean
}

/** How this program was started, and where. */
export interface Launch {
  script: string
  node: string
  folder: string
  platform: NodeJS.Platform
}

/** The default of `server.mcp.path`. */
const mcpPath = '/mcp'
const usualUrl = 'http://127.0.0.1:8080'

/** Prints what to paste into the host's configuration. Never prints a key. */
export async function printConfig(host: HostName, options: PrintOptions): Promise<void> {
  const form: Host = hosts[host]
  const launch = {
    script: process.argv[1] ?? '',
    node: process.execPath,
    folder: process.cwd(),
    platform: process.platform,
  }
  const address = await findAddress(options)
  const entry = options.http === true || form.stdio === undefined ? urlEntry(address) : programEntry(launch, options)
  const made = entry.transport === 'http' ? form.http?.(entry) : form.stdio?.(entry)
  if (made === undefined)
    throw new UsageError(
      `The file of ${host} takes no URL. Leave out --http: the program that it starts uses the running server, or the one that --url names.`,
    )
  const { into, text, note } = made
  if (options.json === true) return printJson({ host, transport: entry.transport, into, text, note: note ?? null })
  say(`Into ${into}:`)
  print(text)
  if (note !== undefined) say(note)
  if (entry.transport === 'stdio' && address.isRunning && address.path !== null && form.http !== undefined)
    say(`A server is running at ${address.url}. For its address instead: ${hint(`mcp --print-config ${host} --http`)}`)
}

/** How a host starts `agentserve mcp` for this folder, from any other folder and without the user's PATH. */
export function programEntry(launch: Launch, { config, data, agent = [], url }: PrintOptions): ProgramEntry {
  const { folder } = launch
  const flags = [
    ...['--folder', folder],
    ...(config === undefined ? [] : ['--config', resolve(folder, config)]),
    ...(data === undefined ? [] : ['--data', resolve(folder, data)]),
    ...agent.flatMap((id) => ['--agent', id]),
  ]
  const [command, ...args] = [...programWords(launch), 'mcp', ...flags]
  // An address and its key come from the same place.
  const environment = url === undefined ? {} : { AGENTSERVE_URL: url, AGENTSERVE_KEY: 'YOUR_KEY' }
  return { transport: 'stdio', command: command ?? '', args, environment }
}

/** From a package manager's cache, which is deleted at times, the program runs through that package manager. */
function programWords({ script, node, platform }: Launch): string[] {
  const isCached = /[\\/](?:_npx|dlx(?:-[^\\/]*)?|bunx-[^\\/]*)[\\/]/.test(script)
  if (!isCached) return [node, script]
  const exact = `agentserve@${version}`
  const manager = /[\\/]_npx[\\/]/.test(script) ? 'npm' : packageManager()
  const words = manager === 'pnpm' ? ['pnpm', 'dlx', exact] : manager === 'bun' ? ['bunx', exact] : ['npx', '-y', exact]
  return platform === 'win32' ? ['cmd', '/c', ...words] : words
}

interface Address {
  url: string
  /** Null: that server has none. */
  path: string | null
  needsKey: boolean
  isRunning: boolean
}

/** The server that is named, else the one that runs, else the usual address. */
async function findAddress(options: PrintOptions): Promise<Address> {
  const dataFolder = await findDataFolder(options)
  const named = options.url ?? fromEnvironment('AGENTSERVE_URL') ?? fromEnvFile('AGENTSERVE_URL')
  if (named) return { url: named, path: mcpPath, needsKey: true, isRunning: false }
  const running = await findRunningServer(dataFolder)
  if (running?.url === undefined) return { url: usualUrl, path: mcpPath, needsKey: true, isRunning: false }
  const { url, auth, mcp_path: path = mcpPath } = running
  return { url, path, needsKey: auth === true, isRunning: true }
}

function urlEntry({ url, path, needsKey }: Address): UrlEntry {
  if (path === null) throw new UsageError(`The server at ${url} has no MCP server: its configuration has mcp: false.`)
  const parsed = URL.parse(url)
  if (parsed === null || !/^https?:$/.test(parsed.protocol))
    throw new UsageError(`'${url}' is no URL. Name the server like --url https://agents.example.com.`)
  if (parsed.username || parsed.password) throw new UsageError('The URL has a user or password in it. Leave them out.')
  if (parsed.pathname === '/') parsed.pathname = path
  return { transport: 'http', url: parsed.href, needsKey }
}
