import { spawn } from 'node:child_process'
import { devNull } from 'node:os'
import type { Readable, Writable } from 'node:stream'
import { AppError } from '../../core/error.ts'

export interface GitCall {
  /** The repository; undefined for `init`. */
  folder?: string
  /** Settings of git. They are in the environment: arguments can be seen by other users of the machine. */
  settings?: Readonly<Record<string, string>>
  signal: AbortSignal
  timeoutMs: number
}

const maxOutputBytes = 100_000_000

/** Nothing of the user's or the machine's settings counts, no program is started, and nobody is asked for a password. */
const ownSettings: Readonly<Record<string, string>> = {
  'core.hooksPath': devNull,
  'core.fsmonitor': 'false',
  'credential.helper': '',
  'fetch.recurseSubmodules': 'false',
  'gc.auto': '0',
  'http.followRedirects': 'false',
  'http.lowSpeedLimit': '1000',
  'http.lowSpeedTime': '60',
  'http.proxy': '',
  'maintenance.auto': 'false',
  'protocol.allow': 'never',
}

/** The output of a command of git. Throws `unavailable` with what git says. */
export async function git(args: readonly string[], call: GitCall): Promise<Buffer> {
  const child = startGit(args, call)
  const pieces: Buffer[] = []
  let size = 0
  for await (const piece of child.stdout as AsyncIterable<Buffer>) {
    size += piece.length
    if (size > maxOutputBytes) {
      child.stop()
      throw new AppError('payload_too_large', 'The repository has too many files.')
    }
    pieces.push(piece)
  }
  await child.ended
  return Buffer.concat(pieces)
}

export interface RunningGit {
  stdin: Writable
  stdout: Readable
  /** Rejects with `unavailable` unless git ends well. */
  ended: Promise<void>
  stop(): void
}

export function startGit(args: readonly string[], { folder, settings, signal, timeoutMs }: GitCall): RunningGit {
  const all = folder === undefined ? args : ['-C', folder, ...args]
  const child = spawn('git', ['--literal-pathspecs', ...all], {
    env: environment({ ...ownSettings, ...settings }),
    stdio: ['pipe', 'pipe', 'pipe'],
    windowsHide: true,
    signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    killSignal: 'SIGKILL',
  })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    if (said.length < 10_000) said += text
  })
  // Its end says why.
  child.stdin.on('error', () => {})
  const ended = new Promise<void>((resolve, reject) => {
    child.once('error', (error: NodeJS.ErrnoException) => reject(problemOf(error, signal, timeoutMs)))
    child.once('close', (code) => {
      if (code === 0) resolve()
      else reject(new AppError('unavailable', `git says: ${lastLine(said) || `exit code ${code}`}`))
    })
  })
  // The caller may be reading still.
  ended.catch(() => {})
  return { stdin: child.stdin, stdout: child.stdout, ended, stop: () => child.kill('SIGKILL') }
}

function problemOf(error: NodeJS.ErrnoException, signal: AbortSignal, timeoutMs: number): unknown {
  if (signal.aborted) return signal.reason
  if (error.code === 'ENOENT')
    return new AppError('unavailable', 'git is not installed, or not in PATH. Install it to use sources with git:.')
  if (error.name === 'AbortError')
    return new AppError('unavailable', `git took longer than ${Math.round(timeoutMs / 1_000)} s.`)
  return new AppError('unavailable', `git can't be started: ${error.code ?? error.message}.`, { cause: error })
}

function environment(settings: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const entries = Object.entries(settings)
  const kept = ['PATH', 'Path', 'SystemRoot', 'TMPDIR', 'TEMP'].flatMap((name) => {
    const value = process.env[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  return {
    ...Object.fromEntries(kept),
    LC_ALL: 'C',
    GIT_CONFIG_GLOBAL: devNull,
    GIT_CONFIG_SYSTEM: devNull,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_CONFIG_COUNT: String(entries.length),
    ...Object.fromEntries(
      entries.flatMap(([key, value], index) => [
        [`GIT_CONFIG_KEY_${index}`, key],
        [`GIT_CONFIG_VALUE_${index}`, value],
      ]),
    ),
  }
}

/** What git says last is what went wrong; a page of a server may be before it. */
function lastLine(said: string): string {
  const lines = said.split('\n').map((line) => line.trim())
  const fatal = lines.findLast((line) => /^(?:fatal|error):/.test(line)) ?? lines.findLast((line) => line !== '') ?? ''
  return fatal.replace(/^(?:fatal|error):\s*/, '').slice(0, 300)
}
