import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { Client } from '../../client/client.ts'
import { createClient } from '../../client/create.ts'
import { createUndiciTransport } from '../../client/transport/undici.ts'
import { challengeHeader, isProof, placeOf, proofBytes, proofHeader } from '../../core/access/server-proof.ts'
import { say } from '../terminal/output.ts'
import { terminalLine } from '../terminal/text.ts'
import { readServerFile, type ServerHint } from './server-file.ts'

export interface RunningServer {
  hint: ServerHint
  client: Client
}

const answerMs = 2_000
/** Warnings already printed: a command may look for its server many times. */
const said = new Set<string>()

/**
 * The server that owns this data folder, if it answers and proves that it wrote `server.json`. Only then is `keyFor`
 * asked for the client's key. Prints on stderr why an existing file is not used.
 */
export async function findRunningServer(
  dataFolder: string,
  keyFor?: (hint: ServerHint) => Promise<string | undefined>,
): Promise<RunningServer | undefined> {
  const path = join(dataFolder, 'server.json')
  const file = await readServerFile(path)
  if (file === undefined) return undefined
  if ('refusal' in file) return ignore(path, file.refusal)
  const { hint } = file
  const state = await challenge(hint)
  if (state === 'silent') return undefined
  if (state === 'unproved') return ignore(path, `the program at ${hint.url} did not prove that it wrote this file`)
  const { url, prefix, a2a_prefix: a2aPrefix, health_path: healthPath } = hint
  return { hint, client: createClient({ url, apiKey: await keyFor?.(hint), prefix, a2aPrefix, healthPath }) }
}

function ignore(path: string, reason: string): undefined {
  const line = `${terminalLine(path)} is ignored: ${terminalLine(reason)}. Continuing without a running server.`
  if (!said.has(line)) say(line)
  said.add(line)
  return undefined
}

/** `silent`: no server listens there. Follows no redirect and sends no key. */
async function challenge({
  url,
  secret,
  health_path = '/health',
}: ServerHint): Promise<'proved' | 'unproved' | 'silent'> {
  const { hostname, port } = new URL(url)
  const place = placeOf(hostname.replace(/^\[(.*)\]$/, '$1'), Number(port || 80))
  const text = randomBytes(proofBytes).toString('base64url')
  const transport = createUndiciTransport(url)
  try {
    const headers = { [challengeHeader]: text }
    const signal = AbortSignal.timeout(answerMs)
    const answer = await transport.send({ method: 'GET', url: health_path, headers, signal })
    return isProof(answer.headers[proofHeader.toLowerCase()], secret, text, place) ? 'proved' : 'unproved'
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ECONNREFUSED' ? 'silent' : 'unproved'
  } finally {
    await transport.close()
  }
}
