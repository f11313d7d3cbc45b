import { readdir, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'

/** What `npm run build` makes dist/ from. */
const sources = [
  'src',
  'package.json',
  'package-lock.json',
  'tsconfig.build.json',
  'tsdown.config.ts',
  'scripts/bundled',
]

/** Refuses to test a program that is older than its source. */
export default async function refuseStaleBuild(): Promise<void> {
  const complaint = await findStaleBuild(resolve(import.meta.dirname, '../..'))
  if (complaint !== undefined) throw Object.assign(new Error(complaint), { stack: undefined })
}

/** Why the programs in dist/ of this folder are not those of its sources; undefined when they are. */
export async function findStaleBuild(root: string): Promise<string | undefined> {
  const built = await changedAt(join(root, 'dist/cli.js'))
  if (built === undefined) return 'dist/ is not there: npm run build'
  for (const source of sources) {
    const paths = [source, ...(await filesBelow(join(root, source))).map((path) => join(source, path))]
    for (const path of paths) {
      const changed = await changedAt(join(root, path))
      if (changed !== undefined && changed > built) return `dist/ is older than ${path}: npm run build`
    }
  }
  return undefined
}

async function changedAt(path: string): Promise<number | undefined> {
  const found = await stat(path).catch(() => undefined)
  return found?.mtimeMs
}

/** A folder changes when a file in it is added, renamed or deleted. */
async function filesBelow(path: string): Promise<string[]> {
  if (!(await stat(path).catch(() => undefined))?.isDirectory()) return []
  return readdir(path, { recursive: true })
}
