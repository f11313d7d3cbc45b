import { execFile, spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { compileCache } from '../../support/compile-cache.ts'

const child = join(import.meta.dirname, '../../support/knowledge/full-disk-child.ts')
/** A small disk needs a mount of its own, which not every system lets a user make. */
const mayMount = spawnSync('unshare', ['-rm', 'true']).status === 0
const done = { code: 'done', message: '' }
const full = { code: 'storage_full', message: expect.stringMatching(/full.*(Free some space|nothing was stored)/i) }

describe.skipIf(!mayMount)('a disk that is full', () => {
  // Fails at other places: the first file of the vectors, their list of files, the documents after some vectors, in the middle of many.
  it.each([0, 400_000, 4_000_000])(
    'keeps nothing of halves when %i bytes were left, and recovers',
    {
      timeout: 120_000,
    },
    async (left) => {
      const folder = await mkdtemp(join(tmpdir(), 'full-disk-'))
      const mount = `mount -t tmpfs -o size=64m tmpfs "$1" && exec "$2" --no-warnings "$3" "$1" "$4"`
      const args = ['-rm', 'sh', '-c', mount, 'sh', folder, process.execPath, child, `${left}`]
      const { stdout } = await promisify(execFile)('unshare', args, { env: { ...process.env, ...compileCache() } })
      await rm(folder, { recursive: true })
      const came = JSON.parse(stdout)
      expect(came.full).toMatchObject({ large: full, many: full, reindex: full, check: full })
      expect(came.full).toMatchObject({ foundLarge: false, foundFirst: true })
      expect(came.full.shown).not.toContain('large')
      expect(came.free).toEqual({ large: done, many: done, check: done, foundLarge: true })
      expect(came.damage).toEqual([])
      expect(came.again.reindex).toEqual(done)
      expect(came.again.shown).toHaveLength(22)
      expect(came.again.status).toMatchObject({ documents: 22, pending: 0, vectors: came.again.status.chunks })
    },
  )
})
