import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Client, createClient } from '../client/client.ts'

/** What a running server tells of itself in `server.json` of its data folder. */
export interface ServerHint {
  pid: number
  url: string
}

const answerMs = 2_000

/** The server that owns this data folder, if one answers; the file alone proves nothing. */
export async function findRunningServer(
  dataFolder: string,
  key: string | undefined,
): Promise<RunningServer | undefined> {
  const hint = await readHint(join(dataFolder, 'server.json'))
  if (hint === undefined) return undefined
  const client = createClient({ url: hint.url, key, retries: 0 })
  if (await isAlive(client)) return { hint, client }
  await client.close()
  return undefined
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
    return typeof hint?.url === 'string' && typeof hint.pid === 'number' ? { url: hint.url, pid: hint.pid } : undefined
  } catch {
    return undefined
  }
}
