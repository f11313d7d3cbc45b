import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { replaceFile } from '../../src/runtime/whole-file.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agentserve-tests-'))
})
afterAll(() => rm(folder, { recursive: true }))

const modeOf = async (file: string) => (await stat(join(folder, file))).mode & 0o777

it('replaces a private file without letting others read the new one while it is written', async () => {
  const path = join(folder, 'private')
  await writeFile(path, 'before')
  await chmod(path, 0o600)
  const modes: number[] = []
  async function* data() {
    for (const file of await readdir(folder)) modes.push(await modeOf(file))
    yield 'after'
  }
  // The data of a real write comes at once: a stream shows the moment before.
  await replaceFile(path, data() as unknown as string)
  expect(modes).toEqual([0o600, 0o600])
  expect([await modeOf('private'), await readFile(path, 'utf8')]).toEqual([0o600, 'after'])
  expect(await readdir(folder)).toEqual(['private'])
})
