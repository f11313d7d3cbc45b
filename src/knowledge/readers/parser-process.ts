import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { AppError } from '../../core/error.ts'
import { unreadable } from '../../core/knowledge/filter.ts'
import { createSerial } from '../../runtime/serial.ts'
import type { Parse } from './parse.ts'
import { childProgram } from './parser-child.ts'
import type { ForeignFound } from './reader.ts'

export interface ParserLimits {
  /** Elapsed time per document. */
  timeoutMs: number
  /** Processor time per document, plus the same per megabyte of it. */
  cpuMs: number
  cpuMsPerMegabyte: number
  memoryBytes: number
  idleMs: number
}

interface Reply {
  found?: ForeignFound
  reason?: string
  /** It holds so much memory that the next document should get a new process. */
  worn: boolean
}

export interface ParserProcess {
  /** Throws `unreadable_document` with the reason, and the signal's reason when it aborts. */
  parse(work: Parse & { name: string | undefined }, signal?: AbortSignal): Promise<ForeignFound>
  close(): Promise<void>
}

/**
 * A process that parses one document after the other. It starts with the first, and ends when it is idle or its parent
 * ends. It may read only the files of this package (for its libraries), may not write files or start programs, and
 * inherits no environment.
 */
export function createParserProcess(limits: ParserLimits): ParserProcess {
  let child: ChildProcess | undefined
  let idle: NodeJS.Timeout | undefined
  const queue = createSerial()
  let closing = false

  const end = () => {
    clearTimeout(idle)
    child?.kill('SIGKILL')
    child = undefined
  }

  const run = async (work: Parse, name: string | undefined, signal: AbortSignal | undefined): Promise<ForeignFound> => {
    signal?.throwIfAborted()
    const { parser } = await import('./parse.ts')
    if (closing) throw closed()
    clearTimeout(idle)
    child ??= start(limits, parser.url)
    const running = child
    running.ref()
    const cpuMs = limits.cpuMs + (limits.cpuMsPerMegabyte * work.content.length) / 1e6
    try {
      const reply = await answer(running, { url: parser.url, work, cpuMs }, limits, signal)
      if (reply.worn) end()
      if (reply.found) return reply.found
      throw unreadable(name, reply.reason ?? 'its reader gave no answer')
    } catch (error) {
      if (error instanceof Ended) {
        child = undefined
        throw closing ? closed() : unreadable(name, error.message)
      }
      if (signal?.aborted) end()
      throw error
    } finally {
      running.unref()
      idle = setTimeout(end, limits.idleMs).unref()
    }
  }

  return {
    parse(work, signal) {
      const { name, ...rest } = work
      return queue.run(() => run(rest, name, signal))
    },
    async close() {
      closing = true
      end()
      await queue.idle()
      closing = false
      clearTimeout(idle)
    },
  }
}

/** The process ended without an answer; the message says why. */
class Ended extends Error {}

function start({ memoryBytes, timeoutMs }: ParserLimits, url: string): ChildProcess {
  const heapMegabytes = Math.ceil((memoryBytes / 1024 ** 2) * 0.75)
  const child = spawn(
    process.execPath,
    [
      ...parserPermissions(url),
      '--no-warnings',
      `--max-old-space-size=${heapMegabytes}`,
      '--input-type=module',
      '--eval',
      childProgram,
      String(memoryBytes),
      String(timeoutMs),
    ],
    {
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      serialization: 'advanced',
      env: { SystemRoot: process.env.SystemRoot },
    },
  )
  child.channel?.unref()
  return child
}

function answer(
  child: ChildProcess,
  message: { url: string; work: Parse; cpuMs: number },
  limits: ParserLimits,
  signal: AbortSignal | undefined,
): Promise<Reply> {
  const { promise, resolve, reject } = Promise.withResolvers<Reply>()
  const onExit = (code: number | null, by: NodeJS.Signals | null) =>
    reject(new Ended(reasonOf(code, by, limits, message.cpuMs)))
  const onError = (error: Error) => reject(new Ended(`its reader can't be started: ${error.message}`))
  const onAbort = () => reject(signal?.reason)
  const onMessage = (reply: unknown) => resolve(reply as Reply)
  child.once('exit', onExit).once('error', onError).once('message', onMessage)
  signal?.addEventListener('abort', onAbort, { once: true })
  child.send(message, (error) => {
    if (error && child.exitCode === null && child.signalCode === null) onError(error)
  })
  return promise.finally(() => {
    child.off('exit', onExit).off('error', onError).off('message', onMessage)
    signal?.removeEventListener('abort', onAbort)
  })
}

/**
 * Node's flags that let a process read only this package's folder with its libraries. For a program that has bundled
 * this package: only the folder of the bundle.
 */
export function parserPermissions(url: string): string[] {
  const manifest = findPackageJSON(url)
  const isOurs = manifest !== undefined && JSON.parse(readFileSync(manifest, 'utf8')).name === 'agentserve'
  const folder = isOurs ? dirname(manifest) : dirname(fileURLToPath(url))
  return ['--permission', `--allow-fs-read=${join(folder, '*')}`, '--allow-worker']
}

function reasonOf(code: number | null, signal: NodeJS.Signals | null, limits: ParserLimits, cpuMs: number): string {
  if (signal === 'SIGVTALRM') {
    const perMegabyte = limits.cpuMsPerMegabyte / 1000
    const rule = `${limits.cpuMs / 1000} s, and ${perMegabyte} s for each MB`
    return `reading it takes more than ${(cpuMs / 1000).toFixed(1)} s of processor time (${rule})`
  }
  if (signal === 'SIGTERM') return `reading it takes longer than ${limits.timeoutMs / 1000} s`
  if (signal === 'SIGKILL' || signal === 'SIGABRT' || code === 134)
    return `reading it takes more than ${Math.round(limits.memoryBytes / 1024 ** 2)} MB of memory`
  return `its reader ended without an answer (${signal ?? code})`
}

function closed(): AppError {
  return new AppError('unavailable', 'The knowledge base is closing.', { retryAfterSeconds: 1 })
}
