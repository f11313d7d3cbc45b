import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { stat } from 'node:fs/promises'
import { endsWithin } from '../../runtime/abort.ts'
import { eachLine } from './lines.ts'
import type { CheckedProcess } from './settings.ts'

/** The environment variables that a child inherits; all others must be set in `env`. */
const inherited =
  process.platform === 'win32'
    ? [
        'APPDATA',
        'LOCALAPPDATA',
        'HOMEDRIVE',
        'HOMEPATH',
        'PATH',
        'PATHEXT',
        'SYSTEMDRIVE',
        'SYSTEMROOT',
        'TEMP',
        'USERPROFILE',
      ]
    : ['HOME', 'LANG', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'TMPDIR', 'USER']

/** Longer lines of its stderr are cut in the log. */
const longestLine = 16 * 1024
const patienceMs = 1_000
const lastWordsMs = 500

/** Live process groups, killed when this process exits without closing them. */
const groups = new Set<number>()

export class McpChild {
  readonly #child: ChildProcess
  /** Resolves with a text that says how it ended. */
  readonly ended: Promise<string>
  #closing: Promise<void> | undefined
  #draining: Promise<unknown> | undefined

  /** Resolves when the process runs; throws the system's error otherwise. `say` gets each line of its stderr. */
  static async start(server: CheckedProcess, folder: string, say: (line: string) => void): Promise<McpChild> {
    const found = await stat(folder).catch(() => undefined)
    if (found?.isDirectory() !== true) throw new Error(`there is no folder '${folder}' to run it in`)
    const child = spawn(server.command, server.args ?? [], {
      cwd: folder,
      env: environmentOf(server),
      stdio: ['pipe', 'pipe', 'pipe'],
      // A process group of its own: children of `npx` end with it, and Ctrl-C in the terminal reaches only us.
      detached: process.platform !== 'win32',
      windowsHide: true,
    })
    const started = new McpChild(child, say)
    await once(child, 'spawn').catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
      throw new Error(`there is no program '${server.command}'. Install it, or add its folder to PATH`)
    })
    return started
  }

  private constructor(child: ChildProcess, say: (line: string) => void) {
    this.#child = child
    child.once('spawn', () => child.pid !== undefined && remember(child.pid))
    child.stdin?.on('error', () => {})
    child.stdout?.on('error', () => {})
    if (child.stderr !== null) eachLine(child.stderr, longestLine, say)
    this.ended = new Promise((resolve) => {
      child.once('error', (error) => resolve(error.message))
      child.once('exit', (code, signal) => {
        this.#signalGroup('SIGKILL')
        if (child.pid !== undefined) forget(child.pid)
        const end = () => resolve(signal === null ? `exit code ${code}` : `signal ${signal}`)
        // Its last output may still be in the pipe, which a process outside the group may hold open.
        const timer = setTimeout(end, lastWordsMs)
        child.once('close', () => {
          clearTimeout(timer)
          end()
        })
      })
    })
  }

  get output(): NodeJS.ReadableStream | null {
    return this.#child.stdout
  }

  /** Resolves when the pipe accepts more. */
  async write(line: string): Promise<void> {
    const { stdin } = this.#child
    if (stdin === null || !stdin.writable) throw new Error('it no longer accepts input')
    if (stdin.write(line)) return
    this.#draining ??= once(stdin, 'drain').finally(() => {
      this.#draining = undefined
    })
    await Promise.race([this.#draining, this.ended])
  }

  /** Closes its stdin, then sends SIGTERM, then SIGKILL. Resolves when it has ended. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#child.stdin?.end()
    if (await endsWithin(this.ended, patienceMs)) return
    this.#signalGroup('SIGTERM')
    if (await endsWithin(this.ended, patienceMs)) return
    this.#signalGroup('SIGKILL')
    await this.ended
  }

  #signalGroup(signal: NodeJS.Signals): void {
    if (this.#child.pid === undefined) return
    if (process.platform === 'win32') this.#child.kill(signal)
    else killGroup(this.#child.pid, signal)
  }
}

function environmentOf({ env }: CheckedProcess): Record<string, string> {
  const all: Record<string, string> = {}
  for (const name of inherited) {
    const value = process.env[name]
    if (value !== undefined) all[name] = value
  }
  return { ...all, ...env }
}

function remember(pid: number): void {
  if (groups.size === 0) process.on('exit', killAll)
  groups.add(pid)
}

function forget(pid: number): void {
  groups.delete(pid)
  if (groups.size === 0) process.off('exit', killAll)
}

function killAll(): void {
  for (const pid of groups) killGroup(pid, 'SIGKILL')
}

function killGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal)
  } catch {
    // The group is empty.
  }
}
