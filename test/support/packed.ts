import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { root } from './program.ts'

const run = promisify(execFile)

export interface Installed {
  /** An empty folder, but for `node_modules`. */
  folder: string
  bin: string
  /** Every file of the package. */
  files: string[]
  remove(): Promise<void>
}

/**
 * The package as a user has it after an installation: the tarball of `npm pack`, unpacked, and beside it nothing but the
 * packages that it names under `dependencies` and the optional ones of this platform, and `extra` ones. These are links to the ones here, so that no test waits for
 * a registry; their own dependencies are found where they really are.
 */
export async function installPacked(extra: readonly string[] = []): Promise<Installed> {
  const folder = await mkdtemp(join(tmpdir(), 'agentserve-packed-'))
  const { home, files, dependencies, optional } = await unpackPacked(root, folder)
  const present = optional.filter((name) => existsSync(join(root, 'node_modules', name)))
  for (const name of [...dependencies, ...present, ...extra]) {
    const link = join(folder, 'node_modules', name)
    await mkdir(dirname(link), { recursive: true })
    await symlink(join(root, 'node_modules', name), link, 'dir')
  }
  return {
    folder,
    bin: join(home, 'bin/agentserve.js'),
    files,
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}

/** Packs the package in `source` and unpacks it into the `node_modules` of a folder, without what it depends on. */
export async function unpackPacked(source: string, folder: string) {
  const { stdout } = await run('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', folder], {
    cwd: source,
    maxBuffer: 16 * 1024 * 1024,
  })
  const [packed] = Object.values(JSON.parse(stdout)) as Packed[]
  if (packed === undefined) throw new Error('npm pack says nothing')
  const tarball = join(folder, packed.filename)
  const home = join(folder, 'node_modules', packed.name)
  await mkdir(home, { recursive: true })
  await run('tar', ['-xzf', tarball, '-C', home, '--strip-components=1'])
  await rm(tarball)
  const manifest = JSON.parse(await readFile(join(home, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>
    optionalDependencies?: Record<string, string>
  }
  return {
    home,
    files: packed.files.map(({ path }) => path),
    dependencies: Object.keys(manifest.dependencies),
    optional: Object.keys(manifest.optionalDependencies ?? {}),
  }
}

interface Packed {
  name: string
  filename: string
  files: { path: string }[]
}
