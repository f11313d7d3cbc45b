import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A checkout that has been built. */
export const thisBuild = join(import.meta.dirname, '..')
export const bin = binOf(thisBuild)
export const configFile = join(import.meta.dirname, 'agent.config.ts')

/** What the program starts itself again with (bin/agentserve.js). It can't when it has a channel to its parent, as a measured one. */
export const asStarted = {
  flags: ['--max-semi-space-size=16', '--min-semi-space-size=4'],
  environment: { MALLOC_ARENA_MAX: '4', MALLOC_MMAP_THRESHOLD_: '1048576', MALLOC_TRIM_THRESHOLD_: '1048576' },
}

export function binOf(build: string): string {
  return join(build, 'bin/agentserve.js')
}

/** Medians of five. */
export interface StartUp {
  /** `node -e 0`, the least that any program of Node can take. */
  nodeMs: number
  helpMs: number
  /** `agentserve start` on an empty folder until `/health` has answered. */
  coldStartMs: number
  /** `agentserve dev` on an empty folder until it says that it serves. */
  devReadyMs: number
}

export async function measureStartUp(): Promise<StartUp> {
  await untilEnd([bin, '--help'])
  await untilHealth()
  await untilReady()
  return {
    nodeMs: await medianOfFive(() => untilEnd(['-e', '0'])),
    helpMs: await medianOfFive(() => untilEnd([bin, '--help'])),
    coldStartMs: await medianOfFive(() => untilHealth()),
    devReadyMs: await medianOfFive(() => untilReady()),
  }
}

async function medianOfFive(measure: () => Promise<number>): Promise<number> {
  const all: number[] = []
  for (let count = 0; count < 5; count++) all.push(await measure())
  return all.sort((a, b) => a - b)[2] ?? Number.NaN
}

/** Milliseconds until a program of Node has ended. */
export async function untilEnd(args: string[]): Promise<number> {
  const startedAt = performance.now()
  const child = spawn(process.execPath, args, { stdio: 'ignore' })
  await once(child, 'exit')
  return performance.now() - startedAt
}

/** Milliseconds from the start of `agentserve start` on an empty folder until `/health` has answered. */
export function untilHealth(build = thisBuild): Promise<number> {
  return untilServed(build, 'start', async (url) => void (await (await fetch(`${url}/health`)).arrayBuffer()))
}

/** Milliseconds from the start of `agentserve dev` on an empty folder until it says that it serves. */
export function untilReady(build = thisBuild, started: Started = {}): Promise<number> {
  return untilServed(build, 'dev', async () => {}, started)
}

interface Started {
  /** Default: the agents of the benchmark. */
  config?: string
  environment?: Record<string, string>
}

async function untilServed(
  build: string,
  command: 'start' | 'dev',
  look: (url: string) => Promise<void>,
  { config, environment }: Started = {},
): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'agentserve-bench-'))
  const startedAt = performance.now()
  const args = [binOf(build), ...startArgs(folder, command, build, config)]
  const env = { ...process.env, ...environment }
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'], env })
  const gone = once(child, 'exit')
  const [line] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string]
  await look((JSON.parse(line) as { url: string }).url)
  const ms = performance.now() - startedAt
  child.kill('SIGTERM')
  await gone
  await rm(folder, { recursive: true, force: true })
  return ms
}

/** `agentserve start`, or `dev`, with the benchmark's agents, its data in `folder`. */
export function startArgs(
  folder: string,
  command: 'start' | 'dev' = 'start',
  build = thisBuild,
  config = join(build, 'bench/agent.config.ts'),
): string[] {
  return [command, '--port', '0', '--json', '--config', config, '--data', folder]
}
