import { between, createRandom, pick, shuffle } from './random.ts'

/** What goes wrong, and for how long in milliseconds: at least and at most. Without times it is over when it has happened. */
const instanceFaults = {
  kill: [1_000, 20_000],
  'long stop': [30_000, 30_000],
  'short stop': [8_000, 8_000],
  cut: [0, 0],
  partition: [2_000, 25_000],
  silence: [2_000, 25_000],
  'half-open, server gone': [2_000, 12_000],
  'half-open, client gone': [2_000, 12_000],
  delay: [5_000, 15_000],
  'lost answer of a commit': [1_000, 4_000],
  'no wake-ups': [4_000, 12_000],
  clock: [10_000, 30_000],
} as const
const databaseFaults = {
  'restart of Postgres': [0, 0],
  'Postgres gone': [4_000, 12_000],
  rival: [3_000, 6_000],
  'disk full': [3_000, 6_000],
} as const
const clusterFaults = { 'rolling restart': [0, 0] } as const

type InstanceFault = keyof typeof instanceFaults
type DatabaseFault = keyof typeof databaseFaults
type ClusterFault = keyof typeof clusterFaults
export type FaultKind = InstanceFault | DatabaseFault | ClusterFault

export const faultKinds = [
  ...Object.keys(instanceFaults),
  ...Object.keys(databaseFaults),
  ...Object.keys(clusterFaults),
] as FaultKind[]

export interface PlannedFault {
  kind: FaultKind
  /** The number of the instance; undefined: it is of the database or of all instances. */
  instance: number | undefined
  atMs: number
  ms: number
}

export interface PlanOptions {
  seed: number
  /** All faults are over by then, but for what a restart takes. */
  forMs: number
  instances: number
  kinds?: readonly FaultKind[]
  /** What comes first, because nothing else may be under way then, or because it takes long. */
  first?: readonly FaultKind[]
  /** The longest of a fault. A longer one is made as short as this. */
  longestMs?: number
}

/** How long the restart of one instance may take: it drains for five seconds. */
const restartMs = 12_000
/** The rest after a fault. */
const restMs = 1_000
/** One instance is left that nothing happens to, but for what happens to the database. */
const spared = 1

interface Window {
  fromMs: number
  toMs: number
}

/** Faults of all kinds, in turns whose order is random, that overlap on different instances. The same for the same seed. */
export function planFaults(options: PlanOptions): PlannedFault[] {
  const { seed, forMs, instances, kinds = faultKinds, first = [], longestMs = forMs } = options
  const random = createRandom(seed)
  const plan: PlannedFault[] = []
  const busy = Array.from({ length: instances }, (): Window[] => [])
  const database: Window[] = []
  let waiting: FaultKind[] = [
    ...first,
    ...shuffle(
      random,
      kinds.filter((kind) => !first.includes(kind)),
    ),
  ]
  for (let atMs = 1_000; atMs < forMs; atMs += between(random, 300, 2_500)) {
    if (waiting.length === 0) waiting = shuffle(random, kinds)
    const place = waiting.findIndex((kind) => take(kind, atMs))
    if (place !== -1) waiting.splice(place, 1)
  }
  return plan

  /** Whether there is room for it now; then it is in the plan. */
  function take(kind: FaultKind, atMs: number): boolean {
    if (kind in clusterFaults) return takeRolling(kind, atMs)
    const [least, most] = timesOf(kind)
    const ms = Math.min(between(random, least, most), longestMs)
    const window = { fromMs: atMs, toMs: atMs + ms + restMs }
    if (atMs + ms > forMs) return false
    if (kind in databaseFaults) {
      if (!isFree(database, window)) return false
      database.push(window)
      plan.push({ kind, instance: undefined, atMs, ms })
      return true
    }
    const free = busy.flatMap((windows, number) => (isFree(windows, window) ? number : []))
    if (free.length <= spared) return false
    const instance = pick(random, free)
    busy[instance]?.push(window)
    plan.push({ kind, instance, atMs, ms })
    return true
  }

  /** One after the other; what happens to the others meanwhile may go on. */
  function takeRolling(kind: FaultKind, atMs: number): boolean {
    const windows = busy.map((_, number) => ({
      fromMs: atMs + number * restartMs,
      toMs: atMs + (number + 1) * restartMs,
    }))
    if ((windows.at(-1)?.toMs ?? 0) > forMs) return false
    if (!windows.every((window, number) => isFree(busy[number] ?? [], window))) return false
    for (const [number, window] of windows.entries()) busy[number]?.push(window)
    plan.push({ kind, instance: undefined, atMs, ms: 0 })
    return true
  }
}

function isFree(windows: readonly Window[], { fromMs, toMs }: Window): boolean {
  return windows.every((other) => toMs <= other.fromMs || fromMs >= other.toMs)
}

function timesOf(kind: FaultKind): readonly [number, number] {
  return { ...instanceFaults, ...databaseFaults, ...clusterFaults }[kind]
}
