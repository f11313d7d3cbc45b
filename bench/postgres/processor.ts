import { readdirSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'

/* Processor time from /proc, in milliseconds. The kernel tells it in hundredths of a second. */

const msPerTick = 10

/** Of one process with all its threads. */
export function processMs(pid: number): number {
  return sum(fieldsOf(pid), [11, 12])
}

/** Of a Postgres with its children, also those that have ended. */
export function postgresMs(postmaster: number): number {
  let ms = sum(fieldsOf(postmaster), [11, 12, 13, 14])
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const fields = fieldsOf(Number(name))
    if (Number(fields[1]) === postmaster) ms += sum(fields, [11, 12])
  }
  return ms
}

/** Of everything that ran on this machine. */
export function machineMs(): number {
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0] = (
    readFileSync('/proc/stat', 'utf8').split('\n', 1)[0] ?? ''
  )
    .split(/\s+/)
    .slice(1)
    .map(Number)
  return (user + nice + system + irq + softirq) * msPerTick
}

/** The part of the machine that others had, of all its cores. */
export function foreignShare({ machine, own, seconds }: { machine: number; own: number; seconds: number }): number {
  return Math.max(0, machine - own) / (seconds * 1000 * availableParallelism())
}

/** Those after the name, which may have blanks. Empty for a process that has ended. */
function fieldsOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? []
  } catch {
    return []
  }
}

function sum(fields: readonly string[], places: readonly number[]): number {
  return places.reduce((ms, place) => ms + Number(fields[place] ?? 0), 0) * msPerTick
}
