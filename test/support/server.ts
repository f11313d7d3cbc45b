import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { resolveConfig } from '../../src/config/resolve.ts'
import type { ServerConfig, UserConfig } from '../../src/config/types.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { agent } from '../../src/runnables/agent/agent.ts'
import { composeServer } from '../../src/server/server.ts'
import type { OpenServer } from '../../src/server/types.ts'
import { configParts } from '../../src/server.ts'
import { emptyDatabase } from './empty-database.ts'

export interface RunningTestServer {
  url: string
  server: OpenServer
  folder: string
  /** Relative to the server; a body that is an object is sent as JSON. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
  close(): Promise<void>
}

export interface Answer {
  status: number
  headers: Headers
  text: string
  /** Undefined when the answer is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  json: any
}

/**
 * The whole server in this process: real SQLite and LanceDB files in a temporary folder, a real socket. `withTests`: it
 * has the routes for saved tests of `dev`; the temporary folder is the project.
 */
export async function startServer(
  config: ServerConfig = {},
  entities: Record<string, object> = {},
  { withTests = false, ...given }: { withTests?: boolean } & Pick<UserConfig, 'schedules' | 'prices'> = {},
): Promise<RunningTestServer> {
  const folder = await mkdtemp(join(tmpdir(), 'agentserve-'))
  if (config.sessionStorage === undefined) await emptyDatabase('sessions', join(folder, 'agentserve.db'))
  if (config.vectorDb === undefined) await emptyDatabase('documents', join(folder, 'knowledge/knowledge.db'))
  const settings: ServerConfig = {
    address: '127.0.0.1:0',
    logger: silentLogger,
    // No test cuts the power, so no commit has to wait for the disk.
    sessionStorage: { type: 'sqlite', path: join(folder, 'agentserve.db'), synchronous: 'NORMAL' },
    vectorDb: { type: 'lancedb', baseUrl: join(folder, 'knowledge') },
    ...config,
  }
  const user = { server: settings, agents: {}, ...given }
  const root = withTests ? folder : process.cwd()
  const loadConfig = async () => ({ root, file: undefined, user: { agents: all } as UserConfig })
  const server = composeServer(resolveConfig({ user, root, purpose: 'library', parts: configParts }), {
    mode: 'embedded',
    ...(withTests && { loadConfig }),
  })
  const echo = agent({
    sideEffects: false,
    async *run({ text }) {
      for (const word of text.split(/(?<=\s)/)) yield word
    },
  })
  const all = { echo, docs: agent({ knowledge: true }), ...entities }
  for (const [id, entity] of Object.entries(all)) server.registerAgent(id, entity)
  const ended = server.start()
  const { url } = await server.ready
  return {
    url,
    server,
    folder,
    call: (...request) => call(url, ...request),
    async close() {
      await server.shutdown({ deadline: 0 })
      await ended
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function call(
  url: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const isRaw = typeof body === 'string' || body instanceof FormData || body instanceof Uint8Array
  const type: Record<string, string> = body === undefined || isRaw ? {} : { 'content-type': 'application/json' }
  const payload = body === undefined ? {} : { body: isRaw ? (body as string | FormData) : JSON.stringify(body) }
  const response = await fetch(url + path, { method, headers: { ...type, ...headers }, ...payload })
  const text = path.startsWith('/api/v1/live') && response.ok ? await firstOf(response) : await response.text()
  const isJson = /^application\/(?:[\w.-]+\+)?json/.test(response.headers.get('content-type') ?? '') && text !== ''
  return { status: response.status, headers: response.headers, text, json: isJson ? JSON.parse(text) : undefined }
}

/** What a stream without an end sends first; then it is left. */
async function firstOf({ body }: Response): Promise<string> {
  for await (const chunk of body ?? []) return Buffer.from(chunk).toString()
  return ''
}
