import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Where native code is told of the common folder for temporary files. */
const variable = process.platform === 'win32' ? 'TMP' : 'TMPDIR'
/** As native code names what it makes; of others nothing is removed. */
const nativeName = /^\.tmp/
const inForce: string[] = []
let usual: string | undefined

/**
 * A private folder for the temporary files of native code that asks nothing but the environment. The environment names
 * it only while such work goes on; what else asks at that time is given this folder too.
 */
export interface TemporaryFolder {
  /** What a process that was killed has left is removed. */
  open(): void
  sync<T>(work: () => T): T
  /** What the work leaves is removed when no other goes on any more. */
  during<T>(work: () => Promise<T>): Promise<T>
  close(): void
}

/** Synchronous all through, so that nothing new is made between listing and removing. */
export function temporaryFolder(path: string): TemporaryFolder {
  let working = 0
  let before = new Set<string>()

  const names = () => (existsSync(path) ? readdirSync(path).filter((name) => nativeName.test(name)) : [])
  const removeAllBut = (kept: ReadonlySet<string>) => {
    for (const name of names()) if (!kept.has(name)) rmSync(join(path, name), { recursive: true, force: true })
  }

  return {
    open() {
      mkdirSync(path, { recursive: true, mode: 0o700 })
      removeAllBut(new Set())
    },
    sync(work) {
      putInForce(path)
      try {
        return work()
      } finally {
        putOutOfForce(path)
      }
    },
    async during(work) {
      if (working++ === 0) before = new Set(names())
      putInForce(path)
      try {
        return await work()
      } finally {
        putOutOfForce(path)
        if (--working === 0) removeAllBut(before)
      }
    },
    close: () => removeAllBut(new Set()),
  }
}

function putInForce(path: string): void {
  // Set for good, and only ever replaced: other threads may be reading the list of variables, which must not be moved.
  process.env[variable] ??= tmpdir()
  if (inForce.length === 0) usual = process.env[variable]
  inForce.push(path)
  process.env[variable] = path
}

function putOutOfForce(path: string): void {
  inForce.splice(inForce.indexOf(path), 1)
  process.env[variable] = inForce.at(-1) ?? usual
}
