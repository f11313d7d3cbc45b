import type { FaultKind } from './plan.ts'

/** What is left of a disk that was full: connections that wait, and a database that starts again. */
const afterDiskMs = 5_000

interface Trouble {
  kind: FaultKind
  instance: string | undefined
  fromMs: number
  toMs: number
}

/** Which faults were on when: what an answer may be blamed on. Times are of `performance.now()`. */
export class Troubles {
  readonly #all: Trouble[] = []

  /** Call what it gives when the fault is over. */
  begin(kind: FaultKind, instance: string | undefined, nowMs = performance.now()): (nowMs?: number) => void {
    const trouble: Trouble = { kind, instance, fromMs: nowMs, toMs: Number.POSITIVE_INFINITY }
    this.#all.push(trouble)
    return (endMs = performance.now()) => {
      trouble.toMs = endMs
    }
  }

  /** Whether the disk was full at some time of these, or just before. */
  isDiskFull(fromMs: number, toMs: number): boolean {
    return this.#all.some((one) => one.kind === 'disk full' && one.fromMs <= toMs && one.toMs + afterDiskMs >= fromMs)
  }

  /** Whether something happened to the database itself at some time of these. */
  isOfDatabase(fromMs: number, toMs: number): boolean {
    return this.#all.some((one) => one.instance === undefined && one.fromMs <= toMs && one.toMs >= fromMs)
  }
}
