import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
export const bin = join(root, 'bin/agentserve.js')
export const configFile = join(import.meta.dirname, 'agent.config.ts')

/** Medians of five. */
export interface StartUp {
  /** `node -e 0`, the least that any program of Node can take. */
  nodeMs: number
  helpMs: number
  /** `agentserve start` on an empty folder until `/health` has answered. */
  coldStartMs: number
}

export async function measureStartUp(): Promise<StartUp> {
  await untilEnd([bin, '--help'])
  await untilHealth()
  return {
    nodeMs: await medianOfFive(() => untilEnd(['-e', '0'])),
    helpMs: await medianOfFive(() => untilEnd([bin, '--help'])),
    coldStartMs: await medianOfFive(untilHealth),
  }
}

async function medianOfFive(measure: () => Promise<number>): Promise<number> {
  const all: number[] = []
  for (let count = 0; count < 5; count++) all.push(await measure())
  return all.sort((a, b) => a - b)[2] ?? Number.NaN
}

async function untilEnd(args: string[]): Promise<number> {
  const startedAt = performance.now()
  const child = spawn(process.execPath, args, { stdio: 'ignore' })
  await once(child, 'exit')
  return performance.now() - startedAt
}

async function untilHealth(): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'agentserve-bench-'))
  const startedAt = performance.now()
  const child = spawn(process.execPath, [bin, ...startArgs(folder)], { stdio: ['ignore', 'pipe', 'ignore'] })
  const gone = once(child, 'exit')
  const [line] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string]
  const answer = await fetch(`${(JSON.parse(line) as { url: string }).url}/health`)
  const ms = performance.now() - startedAt
  await answer.arrayBuffer()
  child.kill('SIGTERM')
  await gone
  await rm(folder, { recursive: true, force: true })
  return ms
}

/** `agentserve start` with the benchmark's agents, its data in `folder`. */
export function startArgs(folder: string): string[] {
  return ['start', '--port', '0', '--json', '--config', configFile, '--data', folder]
}
