import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync, statSync, watch } from 'node:fs'
import { environment, owner } from './run-program.ts'

/** `immediate` is as a crash: the next start replays the log. `fast` ends transactions and writes a checkpoint. */
export type Mode = 'immediate' | 'fast'
const signals = { immediate: 'SIGQUIT', fast: 'SIGINT' } as const

export interface Postmaster {
  pid: number
  end(mode: Mode): Promise<void>
}

/** Starts the program and waits until it takes connections. Rejects with the end of its log when it does not start. */
export async function startPostmaster(program: string, parameters: string[], log: string): Promise<Postmaster> {
  const output = openSync(log, 'a')
  const from = statSync(log).size
  const child = spawn(program, parameters, {
    ...owner,
    cwd: '/',
    detached: true,
    env: environment,
    stdio: ['ignore', output, output],
  })
  closeSync(output)
  const ended = new Promise<void>((resolve) => {
    child.once('error', () => resolve())
    child.once('exit', () => resolve())
  })
  await ready(child, ended, log, from)
  // A process that forgets its server can end: the watchdog ends the server.
  child.unref()
  return {
    pid: child.pid ?? 0,
    end(mode) {
      child.ref()
      child.kill(signals[mode])
      return ended
    },
  }
}

async function ready(child: ChildProcess, ended: Promise<void>, log: string, from: number): Promise<void> {
  const said = () => readFileSync(log).subarray(from).toString()
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const fail = (why: string) => reject(new Error(`Postgres ${why}: ${said().slice(-2_000)}`))
  const look = () => {
    if (said().includes('database system is ready to accept connections')) resolve()
  }
  const watcher = watch(log, look)
  const timer = setTimeout(() => fail('did not start in 60 s'), 60_000)
  void ended.then(() => fail('did not start'))
  look()
  try {
    await promise
  } catch (error) {
    child.kill('SIGQUIT')
    await ended
    throw error
  } finally {
    clearTimeout(timer)
    watcher.close()
  }
}
