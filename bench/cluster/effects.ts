import { readFile } from 'node:fs/promises'
import type { Told } from './told.ts'

interface Executed {
  fromNs: bigint
  toNs: bigint | undefined
  runId: string
  sessionId: string
  name: string
}

/**
 * What the agents themselves have noted: nothing was executed twice, and of two runs of a session that were completed, one
 * had ended before the other began. One that was cut off may still be at it while the next one begins: that nobody can see
 * from outside.
 */
export async function verifyEffects(told: Told, file: string): Promise<number> {
  const runs = new Map<string, Executed>()
  const names = new Map<string, string>()
  for (const line of (await readFile(file, 'utf8')).split('\n')) {
    const [ns = '', what, runId = '', sessionId = '', ...rest] = line.split(' ')
    if (what === 'begin') {
      const name = JSON.parse(rest.join(' ')) as string
      if (runs.has(runId)) told.wrong(`${name} (${runId}) was executed twice`)
      const other = names.get(name)
      if (other !== undefined && other !== runId) told.wrong(`${name} was executed as ${other} and as ${runId}`)
      names.set(name, runId)
      runs.set(runId, { fromNs: BigInt(ns), toNs: undefined, runId, sessionId, name })
    } else if (what === 'end') {
      const run = runs.get(runId)
      if (run !== undefined) run.toNs = BigInt(ns)
    }
  }
  const completed = [...runs.values()].filter(({ name }) => told.runs.get(name)?.end === 'completed')
  for (const all of Map.groupBy(completed, ({ sessionId }) => sessionId).values()) {
    const ordered = all.toSorted((a, b) => (a.fromNs < b.fromNs ? -1 : 1))
    for (const [place, { fromNs, name }] of ordered.entries()) {
      const before = ordered[place - 1]
      if (before === undefined) continue
      if (before.toNs === undefined)
        told.wrong(`${before.name} (${before.runId}) is completed, but its agent never ended`)
      else if (fromNs < before.toNs) told.wrong(`${before.name} and ${name} were executed at the same time`)
    }
  }
  return runs.size
}
