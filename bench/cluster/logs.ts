import type { Happened } from './faults.ts'

interface Line {
  level: number
  msg: string
  address?: string | null
  interrupted?: number
  waiting?: number
}

/** Lines of a log that are kept of each message of an error. */
const linesKept = 3

/** What the instances have written into their logs. */
export class Logs {
  /** Messages of errors, by how often they came. */
  readonly errors = new Map<string, number>()
  /** The first lines of these errors, whole. */
  readonly errorLines: string[] = []
  /** How often each instance was taken for dead. */
  readonly deaths = new Map<string, number>()
  interrupted = 0
  handedOn = 0
  readonly #names = new Map<string, string>()

  /** Where an instance listens, or has listened. */
  know(url: string, name: string): void {
    this.#names.set(new URL(url).port, name)
  }

  add(log: string): void {
    for (const text of log.split('\n')) {
      const line = parse(text)
      if (line === undefined) continue
      if (line.level >= 50) this.#error(line.msg, text)
      if (/silent for too long/.test(line.msg)) this.#died(line.address)
      this.interrupted += line.interrupted ?? 0
      this.handedOn += line.waiting ?? 0
    }
  }

  /** Instances that were taken for dead more often than they were silent for so long. */
  falseDeaths(happened: readonly Happened[]): string[] {
    return [...this.deaths].flatMap(([name, count]) => {
      // One that stops can't say that it leaves while its database is away.
      const isOf = (fault: Happened) => fault.instance === name || fault.kind === 'rolling restart'
      const deadly = happened.filter((fault) => isOf(fault) && isDeadly(fault)).length
      return count > deadly
        ? [`${name} was taken for dead ${count} times, and was silent for so long ${deadly} times`]
        : []
    })
  }

  #error(message: string, text: string): void {
    const count = (this.errors.get(message) ?? 0) + 1
    this.errors.set(message, count)
    if (count <= linesKept) this.errorLines.push(text)
  }

  #died(address: string | null | undefined): void {
    const port = /:(\d+)\/?$/.exec(address ?? '')?.[1] ?? ''
    const name = this.#names.get(port) ?? `an instance at ${address}`
    this.deaths.set(name, (this.deaths.get(name) ?? 0) + 1)
  }
}

/** 15 s of silence is death; what an instance needs to connect again adds to that of a fault. */
function isDeadly({ kind, fromMs, toMs }: Happened): boolean {
  if (kind === 'kill' || kind === 'long stop' || kind === 'rolling restart') return true
  return (kind === 'partition' || kind === 'silence') && toMs - fromMs >= 10_000
}

function parse(text: string): Line | undefined {
  if (!text.startsWith('{')) return undefined
  try {
    return JSON.parse(text) as Line
  } catch {
    return undefined
  }
}
