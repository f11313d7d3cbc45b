import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type ConfigWatch, watchConfig } from '../../../src/config/load/watch.ts'

let folder: string
let watch: ConfigWatch
let calls: string[][]
let next: PromiseWithResolvers<void>
const errors: unknown[] = []

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agentserve-watch-'))
  calls = []
  next = Promise.withResolvers()
})
afterEach(async () => {
  await watch.close()
  await rm(folder, { recursive: true, force: true })
  expect(errors.splice(0)).toEqual([])
})

async function open(files: string[], work: () => Promise<void> = async () => {}, readAtMs = Date.now()): Promise<void> {
  watch = await watchConfig({
    files: files.map((file) => join(folder, file)),
    readAtMs,
    onError: (error) => errors.push(error),
    async onChange(changed) {
      calls.push(changed.map((file) => file.slice(folder.length + 1)).sort())
      const { resolve } = next
      next = Promise.withResolvers()
      await work()
      resolve()
    },
  })
}

const save = (file: string, text = 'x') => writeFile(join(folder, file), text)

describe('watchConfig', () => {
  it('tells of every file that is saved', async () => {
    await save('a.ts')
    await save('b.ts')
    await open(['a.ts', 'b.ts'])
    let told = next.promise
    await Promise.all([save('a.ts', 'y'), save('b.ts', 'y')])
    while (new Set(calls.flat()).size < 2) {
      await told
      told = next.promise
    }
    expect(new Set(calls.flat())).toEqual(new Set(['a.ts', 'b.ts']))
  })

  it('tells of a file that comes, and of one that an editor puts in its place', async () => {
    await open(['a.ts'])
    let told = next.promise
    await save('a.ts')
    await told
    told = next.promise
    await save('a.ts~', 'new')
    await rename(join(folder, 'a.ts~'), join(folder, 'a.ts'))
    await told
    expect(new Set(calls.flat())).toEqual(new Set(['a.ts']))
  })

  it('tells of a file that was saved after it had been read, before the watch began', async () => {
    await save('a.ts')
    const told = next.promise
    await open(['a.ts'], undefined, 0)
    await told
    expect(calls).toEqual([['a.ts']])
  })

  it('watches one more file, in a folder of its own', async () => {
    await mkdir(join(folder, 'lib'))
    await save('lib/late.ts')
    await open(['a.ts'])
    const told = next.promise
    watch.add(join(folder, 'lib/late.ts'))
    // chokidar says nothing when it has begun to watch a folder, so the file is saved until it has.
    let saves = 0
    const saving = setInterval(() => void save('lib/late.ts', `${++saves}`), 20)
    await told
    clearInterval(saving)
    expect(calls[0]).toEqual(['lib/late.ts'])
  })

  it('watches what it is told to from then on', async () => {
    await save('a.ts')
    await save('b.ts')
    await open(['a.ts'], undefined, Date.now() + 1_000)
    watch.update([join(folder, 'b.ts')], Date.now() + 1_000)
    const told = next.promise
    await save('a.ts', 'y')
    await save('b.ts', 'y')
    await told
    expect(calls).toEqual([['b.ts']])
  })

  it('never calls while an earlier call is at work', async () => {
    let atWork = 0
    let most = 0
    await save('a.ts')
    await open(['a.ts'], async () => {
      most = Math.max(most, ++atWork)
      if (calls.length === 1) {
        await save('a.ts', 'again')
        await new Promise((resolve) => setImmediate(resolve))
      }
      atWork--
    })
    const first = next.promise
    await save('a.ts', 'y')
    await first
    while (calls.length < 2) await next.promise
    expect(most).toBe(1)
  })
})
