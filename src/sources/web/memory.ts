import { createHash } from 'node:crypto'
import { appendFile, mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Validators } from '../../runtime/download.ts'
import type { PageFacts } from './links.ts'

/** What a page said when it was last fetched: an unchanged one is not sent again, nor are its links. */
export interface Remembered extends PageFacts {
  validators: Validators
}

/** Losing it costs fetching pages again, and nothing else. */
export interface PageMemory {
  get(address: string): Remembered | undefined
  keep(address: string, page: Remembered): Promise<void>
  /** Forgets what was neither kept nor got since it was opened. Call when a crawl has been through the whole site. */
  tidy(): Promise<void>
}

const maxFileBytes = 200_000_000

/** Of a site, in a file of this folder. `onLost` is told once why pages can't be kept. */
export async function openPageMemory(
  folder: string,
  start: string,
  onLost: (error: Error) => void,
): Promise<PageMemory> {
  const site = new URL(start)
  const name = createHash('sha256')
    .update(site.host.replace(/^www\./, ''))
    .digest('hex')
    .slice(0, 32)
  const path = join(folder, `${name}.jsonl`)
  const pages = await readPages(path)
  const used = new Set<string>()
  let lines = pages.size
  let isLost = false
  const written = async (write: () => Promise<void>) => {
    try {
      if (!isLost) await write()
    } catch (error) {
      isLost = true
      onLost(error as Error)
    }
  }
  return {
    get(address) {
      used.add(address)
      return pages.get(address)
    },
    async keep(address, page) {
      used.add(address)
      pages.set(address, page)
      await written(async () => {
        if (lines++ === 0) await mkdir(folder, { recursive: true, mode: 0o700 })
        // A line break first: a process that was killed may have left half a line.
        await appendFile(path, `\n${JSON.stringify([address, page])}`, { mode: 0o600 })
      })
    },
    async tidy() {
      for (const address of pages.keys()) if (!used.has(address)) pages.delete(address)
      if (lines === pages.size) return
      await written(async () => {
        const own = `${path}.${process.pid}.tmp`
        await writeFile(own, [...pages].map((page) => JSON.stringify(page)).join('\n'), { mode: 0o600 })
        await rename(own, path)
        lines = pages.size
      })
    },
  }
}

/** For a process that keeps nothing. */
export function createPageMemory(): PageMemory {
  const pages = new Map<string, Remembered>()
  return {
    get: (address) => pages.get(address),
    keep: async (address, page) => void pages.set(address, page),
    tidy: async () => {},
  }
}

async function readPages(path: string): Promise<Map<string, Remembered>> {
  const pages = new Map<string, Remembered>()
  const size = await stat(path).then(
    (found) => found.size,
    () => 0,
  )
  if (size === 0 || size > maxFileBytes) return pages
  for (const line of (await readFile(path, 'utf8')).split('\n')) {
    const entry = parsed(line)
    if (entry !== undefined) pages.set(entry[0], entry[1])
  }
  return pages
}

function parsed(line: string): [string, Remembered] | undefined {
  try {
    const entry: unknown = JSON.parse(line)
    if (!Array.isArray(entry) || typeof entry[0] !== 'string' || !isRemembered(entry[1])) return undefined
    return [entry[0], entry[1]]
  } catch {
    // Half a line of a process that was killed.
    return undefined
  }
}

function isRemembered(value: unknown): value is Remembered {
  if (typeof value !== 'object' || value === null) return false
  const { validators, links } = value as Partial<Remembered>
  return typeof validators === 'object' && Array.isArray(links) && links.every((link) => typeof link === 'string')
}
