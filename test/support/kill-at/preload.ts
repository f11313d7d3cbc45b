import fs, { appendFileSync, existsSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import sqlite3 from 'sqlite3'

/*
 * Preloaded with `--import`: ends the process with SIGKILL just before its n-th write. A write is what changes a disk: a
 * statement of SQLite that is run (a commit too), or a call of node:fs that writes, renames or removes. See kills.ts, which
 * sets the variables.
 */

const { KILL_AT: at, KILL_WHEN: whenThere, KILL_LOG: log } = process.env
// A child of the program is not the program.
delete process.env.NODE_OPTIONS

let armed = whenThere === undefined || whenThere === ''
let writes = 0
let inside = false

function onWrite(what: string): void {
  if (inside) return
  inside = true
  armed ||= existsSync(String(whenThere))
  if (armed) {
    writes++
    const isLast = writes === Number(at)
    if (log) appendFileSync(log, `${writes} ${what.replaceAll(/\s+/g, ' ').slice(0, 120)}\n`)
    if (isLast) process.kill(process.pid, 'SIGKILL')
    // The signal is on its way: nothing more may be written until it has come.
    while (isLast) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000)
  }
  inside = false
}

// biome-ignore lint/suspicious/noExplicitAny: methods of any shape are wrapped.
type Methods = Record<string, (...args: any[]) => unknown>

function watch(target: object, names: readonly string[], label: string, isWrite = (_this: unknown) => true): void {
  const methods = target as Methods
  for (const name of names) {
    const original = methods[name]
    if (typeof original !== 'function') continue
    methods[name] = function (this: unknown, ...args: unknown[]) {
      if (isWrite(this)) {
        const sql = (this as { sql?: string } | undefined)?.sql
        onWrite(`${label}.${name} ${sql ?? args.find((arg) => typeof arg === 'string') ?? ''}`)
      }
      return original.apply(this, args)
    }
  }
}

const writing = ['rename', 'unlink', 'rm', 'rmdir', 'mkdir', 'copyFile', 'cp', 'link', 'symlink', 'truncate', 'chmod']
const ofFiles = ['writeFile', 'appendFile']
const ofHandles = ['write', 'writev', 'ftruncate', 'fsync', 'fdatasync']
const sync = (names: readonly string[]) => names.map((name) => `${name}Sync`)

watch(sqlite3.Statement.prototype, ['run'], 'statement')
const writesAnyway = /^\s*(vacuum|pragma\s+wal_checkpoint)/i
watch(sqlite3.Statement.prototype, ['all'], 'statement', (statement) =>
  writesAnyway.test(String((statement as { sql?: string }).sql)),
)
watch(sqlite3.Database.prototype, ['exec'], 'database')
watch(fs, [...writing, ...ofFiles, ...ofHandles, ...sync([...writing, ...ofFiles, ...ofHandles])], 'fs')
watch(fs.promises, [...writing, ...ofFiles], 'fs')
const handle = await fs.promises.open(import.meta.filename, 'r')
watch(
  Object.getPrototypeOf(handle),
  ['write', 'writev', 'writeFile', 'appendFile', 'truncate', 'sync', 'datasync'],
  'file',
)
await handle.close()
syncBuiltinESMExports()
