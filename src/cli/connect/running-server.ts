import { randomBytes } from 'node:crypto'
import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import { createUndiciTransport } from '../../client/transport/undici.ts'
import { type FolderOwner, type ServerHint, serverFileName } from '../../core/access/server-file.ts'
import { challengeHeader, isProof, placeOf, proofBytes, proofHeader } from '../../core/access/server-proof.ts'
import { say } from '../terminal/output.ts'
import { terminalLine } from '../terminal/text.ts'
import { readServerFile } from './server-file.ts'

/** What `server.json` leads to. */
export interface FoundServer {
  /** Of the server that answers and has proved that it wrote the file. */
  running?: ServerHint
  /** What the file says of the process that has the folder, whether it answers or not. */
  owner?: FolderOwner
  /** That process has not said yet where it serves. */
  isStarting?: boolean
  /** Why the file is not used. */
  ignored?: string
}

const answerMs = 2_000
/** Warnings already printed: a command may look for its server many times. */
const said = new Set<string>()

/** The server that owns this data folder, if it answers and proves that it wrote `server.json`. Else stderr has the reason. */
export async function findRunningServer(dataFolder: string): Promise<ServerHint | undefined> {
  const { running, ignored } = await lookForServer(dataFolder)
  sayIgnored(dataFolder, ignored)
  return running
}

/** The same without a word. Waits for an answer at most two seconds. */
export async function lookForServer(dataFolder: string, patienceMs = answerMs): Promise<FoundServer> {
  const file = await readServerFile(join(dataFolder, serverFileName))
  if (file === undefined) return {}
  if ('refusal' in file) return { ignored: file.refusal }
  if ('owner' in file) return { owner: file.owner, isStarting: true }
  const { hint } = file
  const state = await challenge(hint, Math.min(answerMs, patienceMs))
  const place = hint.url ?? hint.socket
  if (state === 'proved') return { running: hint, owner: hint }
  if (state === 'silent') return { owner: hint }
  if (state === 'mute') return { owner: hint, ignored: `the program at ${place} does not answer` }
  if (state === 'foreign') return { ignored: `${place} is not a socket of this user` }
  return { owner: hint, ignored: `the program at ${place} did not prove that it wrote this file` }
}

/** Once for each reason. */
export function sayIgnored(dataFolder: string, reason: string | undefined): void {
  if (reason === undefined) return
  const path = join(dataFolder, serverFileName)
  const line = `${terminalLine(path)} is ignored: ${terminalLine(reason)}. Continuing without a running server.`
  if (!said.has(line)) say(line)
  said.add(line)
}

/** Requests to the server of the hint. */
export function transportTo({ url, socket }: ServerHint) {
  return createUndiciTransport(url ?? 'http://localhost', socket)
}

type State = 'proved' | 'unproved' | 'mute' | 'silent' | 'foreign'

/** `silent`: no server listens there. `mute`: one does, without an answer. Follows no redirect and sends no key. */
async function challenge(hint: ServerHint, patienceMs: number): Promise<State> {
  const { socket, secret, health_path: healthPath = '/health' } = hint
  if (socket !== undefined) {
    const there = await stateOfSocket(socket)
    if (there !== undefined) return there
  }
  const text = randomBytes(proofBytes).toString('base64url')
  const transport = transportTo(hint)
  const signal = AbortSignal.timeout(Math.ceil(patienceMs))
  try {
    const headers = { [challengeHeader]: text }
    const answer = await transport.send({ method: 'GET', url: healthPath, headers, signal })
    return isProof(answer.headers[proofHeader.toLowerCase()], secret, text, calledPlace(hint)) ? 'proved' : 'unproved'
  } catch (error) {
    if (signal.aborted) return 'mute'
    const { code } = error as NodeJS.ErrnoException
    return code === 'ECONNREFUSED' || code === 'ENOENT' ? 'silent' : 'unproved'
  } finally {
    await transport.close()
  }
}

function calledPlace({ url, socket }: ServerHint): string {
  if (socket !== undefined) return socket
  const { hostname, port } = new URL(url ?? '')
  return placeOf(hostname.replace(/^\[(.*)\]$/, '$1'), Number(port || 80))
}

/** Undefined for a socket of this user's. */
async function stateOfSocket(path: string): Promise<State | undefined> {
  const user = process.geteuid?.()
  if (user === undefined) return undefined
  const there = await lstat(path).catch(() => undefined)
  if (there === undefined) return 'silent'
  return there.isSocket() && there.uid === user ? undefined : 'foreign'
}
