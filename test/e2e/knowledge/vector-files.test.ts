import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, describe, expect, it } from 'vitest'
import { lanceVectors } from '../../../src/knowledge/vectors/lancedb.ts'

const folders: string[] = []
afterAll(async () => {
  for (const folder of folders) await rm(folder, { recursive: true, force: true })
})

describe('temporary files of the vectors', () => {
  const place = async () => {
    const folder = await mkdtemp(join(tmpdir(), 'vectors-'))
    folders.push(folder)
    const common = join(folder, 'common')
    await mkdir(common)
    return { vectors: join(folder, 'vectors'), temporary: join(folder, 'vectors', 'temporary'), common }
  }
  const makeIndex = async (vectors: string, common: string, ending: 'close' | 'kill') => {
    const child = spawn(
      process.execPath,
      ['--no-warnings', join(import.meta.dirname, '../../support/knowledge/index-child.ts'), vectors, ending],
      { env: { ...process.env, TMPDIR: common }, stdio: ['ignore', 'pipe', 'inherit'] },
    )
    const [said] = await Promise.all([text(child.stdout), once(child, 'exit')])
    return { said: said.trim(), signal: child.signalCode }
  }

  it('are kept out of the common folder, which is named again afterwards, and none is left', async () => {
    const { vectors, temporary, common } = await place()
    expect(await makeIndex(vectors, common, 'close')).toEqual({ said: common, signal: null })
    expect(await readdir(common)).toEqual([])
    expect(await readdir(temporary)).toEqual([])
    expect((await stat(temporary)).mode & 0o777).toBe(0o700)
  })

  it('of a process that was killed are removed when the vectors are opened again', async () => {
    const { vectors, temporary, common } = await place()
    expect((await makeIndex(vectors, common, 'kill')).signal).toBe('SIGKILL')
    expect(await readdir(common)).toEqual([])
    const left = await readdir(temporary, { recursive: true })
    expect(left.some((name) => name.includes('shuffle_'))).toBe(true)
    const store = lanceVectors({ folder: vectors })
    expect(await store.names()).toEqual(['c1_v1'])
    const names = await readdir(temporary, { recursive: true })
    expect(names.filter((name) => left.includes(name))).toEqual([])
    await store.close()
    expect(await readdir(temporary)).toEqual([])
  })
})
