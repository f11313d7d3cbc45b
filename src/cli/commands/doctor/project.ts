import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { createServer } from 'node:net'
import { dirname } from 'node:path'
import type { ResolvedConfig } from '../../../config/types.ts'
import type { ServerHint } from '../../../core/access/server-file.ts'
import { nameOf } from '../../connect/holder.ts'
import { type Finding, ok, warning, wrong } from './finding.ts'

/** The nearest existing folder: this one or a parent. */
export async function existing(folder: string): Promise<string> {
  const found = await stat(folder).catch(() => undefined)
  return found?.isDirectory() || dirname(folder) === folder ? folder : existing(dirname(folder))
}

export async function checkFolder(dataFolder: string, running: ServerHint | undefined): Promise<Finding> {
  const folder = await existing(dataFolder)
  try {
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch {
    return wrong('data', `${folder} is not writable`, 'change its permissions, or name another folder with --data')
  }
  if (running !== undefined)
    return ok(
      'data',
      `${dataFolder}, in use by ${nameOf(running)}${running.url === undefined ? '' : ` at ${running.url}`}`,
    )
  return ok(
    'data',
    folder === dataFolder ? dataFolder : `${dataFolder}, does not exist yet; the first command creates it`,
  )
}

export async function checkPort(
  { address }: ResolvedConfig['server'],
  running: ServerHint | undefined,
): Promise<Finding> {
  const { port, host, named } = address
  if (running?.url !== undefined && Number(new URL(running.url).port) === port)
    return ok('port', `${port}, used by the running server`)
  const problem = await listen(port, host)
  if (problem === undefined) return ok('port', `${port} is free`)
  const message = problem === 'EADDRINUSE' ? `${port} is in use` : `can't listen on ${port} (${problem})`
  if (!named && problem === 'EADDRINUSE')
    return warning('port', message, 'nothing to do: dev and start use the next free port')
  return wrong('port', message, 'stop the program that uses it, or name another port with --port')
}

/** Where other agents find the cards of these. */
export function checkCards({ a2a, address }: ResolvedConfig['server'], running: ServerHint | undefined): Finding {
  return ok('a2a', `cards at ${a2a.publicUrl ?? baseOf(address, running)}${a2a.prefix}/agents`)
}

/** What a page gives `useChat` as its `api`. */
export function checkChat(
  { chat, prefix, address }: ResolvedConfig['server'],
  running: ServerHint | undefined,
): Finding {
  return ok('usechat', chat ? `${baseOf(address, running)}${prefix}/chat/<agent>` : 'off: server.chat is false')
}

/** What a client of AG-UI gives its `HttpAgent` as `url`. */
export function checkAgUi(
  { agUi, prefix, address }: ResolvedConfig['server'],
  running: ServerHint | undefined,
): Finding {
  return ok('ag-ui', agUi ? `${baseOf(address, running)}${prefix}/ag-ui/<agent>` : 'off: server.agUi is false')
}

/** What clients of OpenAI take as their base URL. */
export function checkOpenAI({ openai, address }: ResolvedConfig['server'], running: ServerHint | undefined): Finding {
  return ok('openai', openai ? `${baseOf(address, running)}${openai.prefix}` : 'off: server.openai is false')
}

/** Where MCP hosts find the tools. */
export function checkMcp({ mcp, address }: ResolvedConfig['server'], running: ServerHint | undefined): Finding {
  return ok('mcp', mcp ? `${baseOf(address, running)}${mcp.path}` : 'off: server.mcp is false')
}

function baseOf({ host = 'localhost', port }: ResolvedConfig['server']['address'], running: ServerHint | undefined) {
  return running?.url ?? `http://${host}:${port}`
}

function listen(port: number, host: string | undefined): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    server.listen({ port, host }, () => server.close(() => resolve(undefined)))
  })
}
