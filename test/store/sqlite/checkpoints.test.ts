import { expect, it } from 'vitest'
import { silentLogger } from '../../../src/core/logger.ts'
import { Checkpoints } from '../../../src/store/sqlite/checkpoints.ts'
import type { Connection } from '../../../src/store/sqlite/connection.ts'

/** Commits until a checkpoint has begun and failed with this code; gives what was called broken. */
async function failWith(code: string): Promise<unknown[]> {
  const broken: unknown[] = []
  const error = Object.assign(new Error(code), { code })
  const connection = { all: () => Promise.reject(error) } as unknown as Connection
  const checkpoints = new Checkpoints(connection, silentLogger, (failure) => broken.push(failure))
  for (let commit = 0; commit < 200; commit++) await checkpoints.afterCommit()
  await checkpoints.close()
  return broken.map((failure) => (failure as { code: string }).code)
}

it('a checkpoint that the disk fails says that the file is broken', async () => {
  expect(await failWith('SQLITE_IOERR')).toEqual(['SQLITE_IOERR'])
})

it('a checkpoint that finds the file busy or the disk full may come later', async () => {
  expect(await failWith('SQLITE_BUSY')).toEqual([])
  expect(await failWith('SQLITE_FULL')).toEqual([])
})
