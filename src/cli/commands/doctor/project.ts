import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { createServer } from 'node:net'
import { dirname } from 'node:path'
import type { ResolvedConfig } from '../../../config/types.ts'
import type { ServerHint } from '../../connect/server-file.ts'
import { type Finding, ok, warning, wrong } from './finding.ts'

/** The nearest folder above, or this one, that exists. */
export async function existing(folder: string): Promise<string> {
  const found = await stat(folder).catch(() => undefined)
  return found?.isDirectory() || dirname(folder) === folder ? folder : existing(dirname(folder))
}

export async function checkFolder(dataFolder: string, running: ServerHint | undefined): Promise<Finding> {
  const folder = await existing(dataFolder)
  try {
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch {
    return wrong('data', `${folder} can't be written to`, 'give yourself the right to, or name another with --data')
  }
  if (running !== undefined) return ok('data', `${dataFolder}, in use by process ${running.pid} at ${running.url}`)
  return ok('data', folder === dataFolder ? dataFolder : `${dataFolder}, not there yet; the first command makes it`)
}

export async function checkPort(
  { address }: ResolvedConfig['server'],
  running: ServerHint | undefined,
): Promise<Finding> {
  const { port, host, named } = address
  if (running !== undefined && Number(new URL(running.url).port) === port)
    return ok('port', `${port}, where it is served`)
  const problem = await listen(port, host)
  if (problem === undefined) return ok('port', `${port} is free`)
  const message = problem === 'EADDRINUSE' ? `${port} is taken` : `${port} can't be listened on (${problem})`
  if (!named && problem === 'EADDRINUSE') return warning('port', message, 'dev and start take the next free one')
  return wrong('port', message, 'end what listens there, or name another with --port')
}

function listen(port: number, host: string | undefined): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    server.listen({ port, host }, () => server.close(() => resolve(undefined)))
  })
}
