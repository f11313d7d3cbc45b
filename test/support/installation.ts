import { execFile } from 'node:child_process'
import { lstat, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { root } from './program.ts'

const run = promisify(execFile)
const patience = { timeout: 1_200_000, maxBuffer: 64 * 1024 * 1024 }

export interface Installation {
  seconds: number
  /** Their names, all that npm has installed. */
  packages: string[]
  megabytes: number
}

/** Packs the package of this repository into a folder, from the build that is there. Gives the tarball. */
export async function pack(folder: string): Promise<string> {
  const { stdout } = await run('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', folder], {
    cwd: root,
    ...patience,
  })
  const [packed] = Object.values(JSON.parse(stdout) as { filename: string }[])
  if (packed === undefined) throw new Error('npm pack says nothing')
  return join(folder, packed.filename)
}

/** Runs `npm install` with these arguments in a folder, which becomes a project. Never name agentserve: it may be another's. */
export async function install(folder: string, args: readonly string[]): Promise<Installation> {
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'package.json'), '{ "type": "module", "private": true }\n', { flag: 'wx' }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    },
  )
  const startedAt = performance.now()
  await run('npm', ['install', '--no-audit', '--no-fund', ...args], { cwd: folder, ...patience })
  const seconds = (performance.now() - startedAt) / 1_000
  const lock = await readFile(join(folder, 'node_modules/.package-lock.json'), 'utf8')
  const { packages } = JSON.parse(lock) as { packages: Record<string, { name?: string }> }
  const names = Object.entries(packages).map(([place, { name }]) => name ?? place.replace(/^.*node_modules\//, ''))
  return { seconds, packages: names, megabytes: await megabytesOf(join(folder, 'node_modules')) }
}

/** On the disk, in MB of 1,000,000 bytes. */
async function megabytesOf(folder: string): Promise<number> {
  let blocks = 0
  for (const path of await readdir(folder, { recursive: true })) blocks += (await lstat(join(folder, path))).blocks
  return (blocks * 512) / 1_000_000
}
