import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

/*
 * Installs the clients that judge the server (test/judges) when their lock file is another than at the last install that came
 * to its end. Takes another folder as its argument, for the test.
 */

const folder = resolve(process.argv[2] ?? join(import.meta.dirname, '../test/judges'))
const modules = join(folder, 'node_modules')
const note = join(modules, '.installed')

const files = ['package.json', 'package-lock.json'].map((name) => readFileSync(join(folder, name)))
const digest = createHash('sha256').update(Buffer.concat(files)).digest('hex')

if (!existsSync(note) || readFileSync(note, 'utf8') !== digest) {
  // An install that is interrupted leaves no note.
  rmSync(note, { force: true })
  console.error('Installing the judges of test/judges')
  const install = 'npm ci --prefix . --ignore-scripts --no-audit --no-fund'
  const { status } = spawnSync(install, { cwd: folder, stdio: 'inherit', shell: true })
  if (status === 0) {
    mkdirSync(modules, { recursive: true })
    writeFileSync(note, digest)
  } else process.exitCode = status ?? 1
}
