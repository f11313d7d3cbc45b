import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setSharedBrowser } from './browser/unpacked.ts'
import { keepSharedPostgres } from './postgres/shared-server.ts'

/**
 * What all tests of a run share: Node's compiled code, the home folder, empty databases to copy, Postgres, the files of the browser,
 * and the folder of the sockets of data folders with long paths. No test removes it.
 */
const shared = new Set([
  'node-compile-cache',
  'home',
  'databases',
  'postgres',
  'browser',
  `agentserve-${process.geteuid?.()}`,
])

/**
 * Temporary files of LanceDB, which a program that a test kills at that moment can't remove. That a program which lives
 * leaves none is held by test/e2e/knowledge/vector-files.test.ts.
 */
const ofKilled = /^\.tmp\w{6}$/

/**
 * Gives the whole run of the tests a temporary folder and a home folder of its own, both empty: no test can rely on what an
 * earlier one has left. Fails the run when a test leaves something behind, and removes the folder.
 */
export default async function setUp(): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'agentserve-tests-'))
  const home = join(folder, 'home')
  await mkdir(home)
  // The registry that npm talks to is the machine's to say.
  const settings = join(homedir(), '.npmrc')
  if (existsSync(settings)) process.env.NPM_CONFIG_USERCONFIG ??= settings
  process.env.TMPDIR = folder
  process.env.HOME = home
  // Postgres does not run as root, and must come to its files.
  if (process.getuid?.() === 0) await chmod(folder, 0o711)
  setSharedBrowser(join(folder, 'browser'))
  const stopPostgres = await keepSharedPostgres(join(folder, 'postgres'))
  return async () => {
    await stopPostgres()
    const left = (await readdir(folder)).filter((name) => !shared.has(name) && !ofKilled.test(name))
    await rm(folder, { recursive: true, force: true })
    if (left.length > 0) throw new Error(`tests have left files in the temporary folder: ${left.join(', ')}`)
  }
}
