import { type Command, InvalidArgumentError, Option } from 'commander'
import type { ConfigFlags } from '../../config/overrides.ts'

export interface ProjectOptions {
  config?: string
  data?: string
  json?: boolean
  plain?: boolean
}

/** Without `url`: the running server, or one in this process. */
export interface ConnectOptions extends ProjectOptions {
  url?: string
  key?: string
}

export interface ServeOptions extends ProjectOptions {
  host?: string
  port?: number
  watch?: boolean
  open?: boolean
  again?: boolean
  allowHost?: string[]
  allowUnauthenticated?: boolean
  stopWithin?: string
}

export function addProjectFlags(command: Command): Command {
  return command
    .option('--config <file>', 'the config file (default: agent.config.ts in this folder)')
    .option('--data <folder>', 'the data folder (default: .agentserve)')
    .option('--json', 'print data as JSON, one value per line')
    .addOption(plainFlag())
}

/** Every command has it: the program reads it before the command begins. */
export function plainFlag(): Option {
  return new Option('--plain', 'no colours and no drawing, line by line (also with TERM=dumb)')
}

export function addConnectFlags(command: Command): Command {
  return addProjectFlags(command)
    .option('--url <url>', 'the server to use (default: the running one, or else one inside this process)')
    .option('--key <key>', 'the API key or token for the server (default: AGENTSERVE_KEY)')
}

export function addServeFlags(command: Command): Command {
  return addProjectFlags(command)
    .option('--host <host>', 'the address to listen on (default: 127.0.0.1)')
    .option('--port <port>', 'the port; 0 picks a free one (default: 8080 or the next free one)', parsePort)
    .option('--allow-host <name>', 'a Host name to accept; repeatable', collect)
    .option('--stop-within <time>', 'how long runs may take to end when it is stopped (default: 10s)')
    .option('--allow-unauthenticated', 'listen on other than loopback addresses without API keys')
}

export function toConfigFlags(options: ServeOptions): ConfigFlags {
  return {
    data: options.data,
    host: options.host,
    port: options.port,
    allowHosts: options.allowHost,
    allowUnauthenticated: options.allowUnauthenticated,
    stopWithin: options.stopWithin,
  }
}

export function integerBetween(least: number, most: number): (text: string) => number {
  return (text) => {
    const number = Number(text)
    if (/^\d{1,9}$/.test(text) && number >= least && number <= most) return number
    throw new InvalidArgumentError(`It must be an integer from ${least} to ${most}.`)
  }
}

/** Reads the name of a text encoding. */
export function encodingName(name: string): string {
  try {
    return new TextDecoder(name).encoding
  } catch {
    throw new InvalidArgumentError('It must be the name of an encoding, such as windows-1251 or shift_jis.')
  }
}

const parsePort = integerBetween(0, 65_535)

/** Reads an option that may be repeated. */
export function repeated(value: string, earlier: string[] = []): string[] {
  return [...earlier, value]
}

function collect(value: string, earlier: string[] = []): string[] {
  return [...earlier, ...value.split(',').flatMap((name) => name.trim() || [])]
}
