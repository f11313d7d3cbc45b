import { mkdir, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { findStaleBuild } from './support/built.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

it('reports a build that is missing, or older than a source', async () => {
  await using folder = await temporaryFolder()
  const write = async (path: string, seconds: number) => {
    await mkdir(join(folder.path, path, '..'), { recursive: true })
    await writeFile(join(folder.path, path), '')
    await utimes(join(folder.path, path), seconds, seconds)
    for (let parent = join(path, '..'); parent !== '.'; parent = join(parent, '..'))
      await utimes(join(folder.path, parent), seconds, seconds)
  }
  await write('src/cli/main.ts', 10)
  expect(await findStaleBuild(folder.path)).toBe('dist/ is not there: npm run build')
  await write('dist/cli.js', 20)
  expect(await findStaleBuild(folder.path)).toBeUndefined()
  await write('src/core/run.ts', 30)
  await utimes(join(folder.path, 'src'), 10, 10)
  await utimes(join(folder.path, 'src/core'), 10, 10)
  expect(await findStaleBuild(folder.path)).toBe('dist/ is older than src/core/run.ts: npm run build')
  await rm(join(folder.path, 'src/core/run.ts'))
  expect(await findStaleBuild(folder.path)).toBe('dist/ is older than src/core: npm run build')
  await write('dist/cli.js', Date.now() / 1000 + 10)
  expect(await findStaleBuild(folder.path)).toBeUndefined()
  await utimes(join(folder.path, 'dist/cli.js'), 20, 20)
  await utimes(join(folder.path, 'src/core'), 10, 10)
  await write('package.json', 30)
  expect(await findStaleBuild(folder.path)).toBe('dist/ is older than package.json: npm run build')
})
