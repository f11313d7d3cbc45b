import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Client, createClient } from '../client/client.ts'

/** What a running server tells of itself in `server.json` of its data folder. */
export interface ServerHint {
  pid: number
  url: string
  /** Where its routes are; absent means the defaults. */
  prefix?: string | undefined
  a2a_prefix?: string | undefined
  health_path?: string | undefined
}

const answerMs = 2_000

/** The server that owns this data folder, if one answers; the file alone proves nothing. */
export async function findRunningServer(
  dataFolder: string,
  key: string | undefined,
): Promise<RunningServer | undefined> {
  const hint = await readHint(join(dataFolder, 'server.json'))
  if (hint === undefined) return undefined
  const { url, prefix, a2a_prefix: a2aPrefix, health_path: healthPath } = hint
  const probe = createClient({ url, healthPath, retries: 0 })
  const alive = await isAlive(probe)
  await probe.close()
  return alive ? { hint, client: createClient({ url, key, prefix, a2aPrefix, healthPath }) } : undefined
}

export interface RunningServer {
  hint: ServerHint
  client: Client
}

async function isAlive(client: Client): Promise<boolean> {
  try {
    return (await client.health({ timeoutMs: answerMs })).service === 'agentserve'
  } catch {
    return false
  }
}

async function readHint(file: string): Promise<ServerHint | undefined> {
  try {
    const hint = JSON.parse(await readFile(file, 'utf8')) as Partial<ServerHint> | null
    if (typeof hint?.url !== 'string' || typeof hint.pid !== 'number') return undefined
    const text = (value: unknown) => (typeof value === 'string' ? value : undefined)
    const { url, pid } = hint
    const places = { prefix: text(hint.prefix), a2a_prefix: text(hint.a2a_prefix), health_path: text(hint.health_path) }
    return { url, pid, ...places }
  } catch {
    return undefined
  }
}
