import { execFile } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { archiveOf, hashOf, readSources, type Source, sourcesFile } from './sources.ts'

// Downloads the packages of sources.json that are not in the cache yet, with apt-get and npm as they are set up here.
// A package that is not to be had in its version stops it; --pin takes the current version of such a package instead and
// writes its version and hash into sources.json.
// usage: node scripts/embedding/fetch.ts --cache FOLDER [--pin]
const { values: options } = parseArgs({
  options: { cache: { type: 'string' }, pin: { type: 'boolean', default: false } },
})
if (options.cache === undefined) throw new Error('--cache names a folder for the packages, outside the repository')
const cache = resolve(options.cache)
await mkdir(cache, { recursive: true })
const run = promisify(execFile)

const sources = await readSources()
const missing: string[] = []
for (const [at, source] of sources.entries()) {
  if (await isCached(source)) continue
  try {
    await download(source, source.version)
    await archiveOf(source, cache)
  } catch (error) {
    if (options.pin) sources[at] = await pinned(source)
    else missing.push(`${source.name} ${source.version}: ${(error as Error).message.trim().split('\n').at(-1)}`)
  }
}
if (options.pin) await writeFile(sourcesFile, `${JSON.stringify(sources, undefined, 2)}\n`)
for (const line of missing) console.error(line)
console.log(`${sources.length - missing.length} of ${sources.length} packages are in ${cache}`)
if (missing.length > 0) process.exitCode = 1

function isCached(source: Source): Promise<boolean> {
  return archiveOf(source, cache).then(
    () => true,
    () => false,
  )
}

/** The name of the file that the client made; `version` undefined: the current one. */
async function download({ name, archive }: Source, version: string | undefined): Promise<string> {
  if (archive.endsWith('.tgz')) {
    const { stdout } = await run('npm', ['pack', '--silent', version === undefined ? name : `${name}@${version}`], {
      cwd: cache,
    })
    return stdout.trim()
  }
  const { stdout } = await run('apt-get', [
    'download',
    '--print-uris',
    version === undefined ? name : `${name}=${version}`,
  ])
  const file = /^'[^']*' (\S+)/.exec(stdout)?.[1] ?? archive
  await run('apt-get', ['download', version === undefined ? name : `${name}=${version}`], { cwd: cache })
  return file
}

async function pinned(source: Source): Promise<Source> {
  const archive = await download(source, undefined)
  const version = archive.endsWith('.tgz')
    ? (await run('tar', ['-xzOf', join(cache, archive), 'package/package.json'])).stdout
    : (await run('dpkg-deb', ['-f', join(cache, archive), 'Version'])).stdout.trim()
  const sha256 = hashOf(await readFile(join(cache, archive)))
  const current = archive.endsWith('.tgz') ? (JSON.parse(version) as { version: string }).version : version
  console.log(`${source.name}: ${current} instead of ${source.version}`)
  return { ...source, archive, version: current, sha256 }
}
