import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const preload = pathToFileURL(join(import.meta.dirname, 'preload.ts')).href

export interface KillPlan {
  /** Just before which write the process ends itself, from 1; absent: it only counts. */
  at?: number | undefined
  /** Writes count from the moment when this file is there; absent: from the start of the process. */
  when?: string | undefined
  /** Gets a line for each write that counted. */
  log: string
}

/**
 * The environment of a process of Node that ends itself with SIGKILL at a write. To show that an operation leaves no half
 * state: run it with a plan that only counts, then once for each number of `killSteps`, and look at what it left each
 * time. For the program: `launch(project, args, killAt(plan))` or `serve(…)`; a server gets `when`, a file that the test
 * makes when the server is ready. Nothing in the program knows of it.
 */
export function killAt({ at, when, log }: KillPlan): Record<string, string> {
  return {
    NODE_OPTIONS: `--no-warnings --import=${preload}`,
    KILL_AT: String(at ?? 0),
    KILL_WHEN: when ?? '',
    KILL_LOG: log,
  }
}

/** The writes that were counted, one line each; takes the log away. */
export async function countedWrites(log: string): Promise<string[]> {
  const text = await readFile(log, 'utf8').catch(() => '')
  await rm(log, { force: true })
  return text.split('\n').filter((line) => line !== '')
}

/** Every number up to `writes`, or at most so many of them, spread evenly, the first and the last included. */
export function killSteps(writes: number, most = Number.POSITIVE_INFINITY): number[] {
  const count = Math.min(writes, most)
  if (count < 2) return writes > 0 ? [1] : []
  const steps = Array.from({ length: count }, (_, place) => 1 + Math.round((place * (writes - 1)) / (count - 1)))
  return [...new Set(steps)]
}
