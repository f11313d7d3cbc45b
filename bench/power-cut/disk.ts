import type { Step } from './trace.ts'

/*
 * A disk that keeps for sure only what was synced. What a file got is durable when an fsync or fdatasync of it that began
 * after the write had returned has succeeded; that a name was made or removed, when the folder was synced so. Of everything
 * else that had begun at the moment of the cut, nothing, all, or any part in sectors of 512 bytes may be there.
 */

const sectorBytes = 512

type Change = { done: boolean } & ({ kind: 'write'; offset: number; data: Buffer } | { kind: 'truncate'; size: number })
interface DiskFile {
  durable: Image
  pending: Change[]
}
interface EntryChange {
  path: string
  /** Undefined: removed. */
  file: DiskFile | undefined
}
/** The files that a cut leaves, by path. */
export type Files = Map<string, Buffer>

export class Disk {
  readonly #moments: { at: number; step: Step; ends: boolean }[]
  readonly #folder: string
  #next = 0
  readonly #open = new Map<number, DiskFile>()
  readonly #seen = new Map<string, DiskFile>()
  readonly #durable = new Map<string, DiskFile>()
  #entryChanges: EntryChange[] = []
  readonly #running = new Map<Step, Change | (() => void)>()

  constructor(steps: readonly Step[], folder: string) {
    this.#folder = folder
    this.#moments = steps
      .flatMap((step) => [
        { at: step.begin, step, ends: false },
        { at: step.end, step, ends: true },
      ])
      .filter(({ at, step }) => step.kind !== 'send' && at !== Number.POSITIVE_INFINITY)
      .sort((a, b) => a.at - b.at)
  }

  /** Goes on to the moment before `line` of the trace; never back. */
  advance(line: number): void {
    for (let moment = this.#moments[this.#next]; moment && moment.at < line; moment = this.#moments[++this.#next]) {
      if (moment.ends) this.#end(moment.step)
      else this.#begin(moment.step)
    }
  }

  /** Nothing is left but what was synced. */
  synced(): Files {
    return new Map([...this.#durable].map(([path, { durable }]) => [path, durable.copy().bytes()]))
  }

  /** Also any part of what was not, in sectors; of the names, the first so many changes. */
  torn(random: () => number): Files {
    const entries = new Map(this.#durable)
    change(entries, this.#entryChanges.slice(0, Math.floor(random() * (this.#entryChanges.length + 1))))
    const share = random()
    const files: Files = new Map()
    for (const [path, { durable, pending }] of entries) {
      const image = durable.copy()
      for (const one of pending) {
        if (one.kind === 'truncate') {
          if (random() < share) image.truncate(one.size)
          continue
        }
        for (let from = one.offset; from < one.offset + one.data.length; ) {
          const to = Math.min((Math.floor(from / sectorBytes) + 1) * sectorBytes, one.offset + one.data.length)
          if (random() < share) image.write(from, one.data.subarray(from - one.offset, to - one.offset))
          from = to
        }
      }
      files.set(path, image.bytes())
    }
    return files
  }

  /** As the process has them, and whether a call on them is under way. */
  written(): Map<string, { bytes: Buffer; certain: boolean }> {
    return new Map(
      [...this.#seen].map(([path, { durable, pending }]) => {
        const image = durable.copy()
        for (const one of pending) apply(image, one)
        return [path, { bytes: image.bytes(), certain: pending.every(({ done }) => done) }]
      }),
    )
  }

  #begin(step: Step): void {
    if (step.kind === 'write' || step.kind === 'truncate') {
      const one: Change = { ...step, done: false }
      this.#fileOf(step.fd, step.begin).pending.push(one)
      this.#running.set(step, one)
    } else if (step.kind === 'sync' && step.path === this.#folder) {
      const covered = this.#entryChanges.slice()
      this.#running.set(step, () => {
        change(this.#durable, covered)
        this.#entryChanges = this.#entryChanges.filter((one) => !covered.includes(one))
      })
    } else if (step.kind === 'sync') {
      const file = this.#fileOf(step.fd, step.begin)
      const covered = new Set(file.pending.filter(({ done }) => done))
      this.#running.set(step, () => {
        for (const one of file.pending) if (covered.has(one)) apply(file.durable, one)
        file.pending = file.pending.filter((one) => !covered.has(one))
      })
    }
  }

  #end(step: Step): void {
    if (step.kind === 'open' && step.path !== this.#folder) {
      let file = this.#seen.get(step.path)
      if (file === undefined) {
        file = { durable: new Image(), pending: [] }
        this.#enter(step.path, file)
      }
      this.#open.set(step.fd, file)
    } else if (step.kind === 'unlink') this.#enter(step.path, undefined)
    const running = this.#running.get(step)
    this.#running.delete(step)
    if (typeof running === 'function') running()
    else if (running !== undefined) running.done = true
  }

  #enter(path: string, file: DiskFile | undefined): void {
    change(this.#seen, [{ path, file }])
    this.#entryChanges.push({ path, file })
  }

  #fileOf(fd: number, line: number): DiskFile {
    const file = this.#open.get(fd)
    if (file === undefined) throw new Error(`line ${line}: file ${fd} was not opened in this trace`)
    return file
  }
}

function change(entries: Map<string, DiskFile>, changes: readonly EntryChange[]): void {
  for (const { path, file } of changes) {
    if (file === undefined) entries.delete(path)
    else entries.set(path, file)
  }
}

function apply(image: Image, one: Change): void {
  if (one.kind === 'write') image.write(one.offset, one.data)
  else image.truncate(one.size)
}

/** A file's content; what was never written in it is zero. */
class Image {
  #data = Buffer.alloc(64 * 1024)
  #size = 0

  write(offset: number, data: Buffer): void {
    this.#reach(offset + data.length)
    data.copy(this.#data, offset)
  }

  truncate(size: number): void {
    if (size < this.#size) this.#data.fill(0, size, this.#size)
    this.#reach(size)
    this.#size = size
  }

  bytes(): Buffer {
    return this.#data.subarray(0, this.#size)
  }

  copy(): Image {
    const copy = new Image()
    copy.#data = Buffer.from(this.#data)
    copy.#size = this.#size
    return copy
  }

  #reach(size: number): void {
    if (size > this.#data.length) {
      const data = Buffer.alloc(Math.max(size, this.#data.length * 2))
      this.#data.copy(data)
      this.#data = data
    }
    this.#size = Math.max(this.#size, size)
  }
}
