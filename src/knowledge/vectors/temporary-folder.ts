import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The variable that tells native code the temporary folder. */
const variable = process.platform === 'win32' ? 'TMP' : 'TMPDIR'
/** Names that native code uses; no other file is removed. */
const nativeName = /^\.tmp/
const inForce: string[] = []
let usual: string | undefined

/**
 * A private folder for temporary files of native code, which only reads the environment. The variable is set only
 * during such work; any other code gets this folder too at that time.
 */
export interface TemporaryFolder {
  /** Removes what a killed process has left. */
  open(): void
  sync<T>(work: () => T): T
  /** Removes the work's files when no other work is running. */
  during<T>(work: () => Promise<T>): Promise<T>
  close(): void
}

/** Synchronous, so that no file is created between listing and removing. */
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
  // Set once and then only replaced: other threads may be reading the list of variables, which must not move.
  process.env[variable] ??= tmpdir()
  if (inForce.length === 0) usual = process.env[variable]
  inForce.push(path)
  process.env[variable] = path
}

function putOutOfForce(path: string): void {
  inForce.splice(inForce.indexOf(path), 1)
  process.env[variable] = inForce.at(-1) ?? usual
}
