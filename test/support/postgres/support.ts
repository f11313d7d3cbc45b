import { realpathSync, statSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { dirname } from 'node:path'
import { findBinaries } from './binaries.ts'
import { owner } from './run-program.ts'

/** Why this machine can't start a Postgres of the tests in this folder, or undefined when it can. */
export function whyNoPostgres(folder = tmpdir()): string | undefined {
  if (process.platform === 'win32') return 'the tests start no Postgres on Windows'
  if (findBinaries() === undefined) return `no package has Postgres for ${process.platform} ${process.arch}`
  if (process.platform === 'linux' && isMusl()) return 'the packages with Postgres need glibc, and this system has musl'
  if (!hasAccount()) return 'Postgres needs a user that has an account and is not root'
  return owner.uid === undefined ? undefined : whyNotReachable(realpathSync(folder))
}

/** Of the user that Postgres will run as. */
function hasAccount(): boolean {
  if (process.getuid?.() === 0) return owner.uid !== undefined
  try {
    return userInfo().username !== ''
  } catch {
    return false
  }
}

function isMusl(): boolean {
  const report = process.report.getReport() as { header: { glibcVersionRuntime?: string } }
  return report.header.glibcVersionRuntime === undefined
}

/** Postgres does not run as root, so each folder above its own must let other users pass. */
function whyNotReachable(folder: string): string | undefined {
  if ((statSync(folder).mode & 0o001) === 0)
    return `Postgres can't run as root, and other users can't enter ${folder}: use a folder (or TMPDIR) that they can enter`
  return folder === dirname(folder) ? undefined : whyNotReachable(dirname(folder))
}
