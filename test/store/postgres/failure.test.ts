import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { silentLogger } from '../../../src/core/logger.ts'
import { classify, toStoreError } from '../../../src/store/postgres/failure.ts'
import { Pools } from '../../../src/store/postgres/pools.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const retry = { code: 'unavailable', retryAfterSeconds: 1 }
const failureOf = (code: string, more: object = {}) => Object.assign(new Error('x'), { code, ...more })

test('a database whose socket is gone, as while it starts again, is away', async () => {
  await using folder = await temporaryFolder()
  const socket = connect(`${folder.path}/.s.PGSQL.5432`)
  const error = await new Promise((told) => socket.once('error', told))
  expect(classify(error)).toBe('away')
  expect(toStoreError(error)).toMatchObject(retry)
})

test.each(['ENETUNREACH', 'ENETDOWN', 'EHOSTDOWN', 'ECONNABORTED', 'EMFILE'])(
  'a connection that ends as %s is away',
  (code) => {
    expect(classify(failureOf(code, { syscall: 'connect' }))).toBe('away')
  },
)

test('a socket that this user may not open is no database that is away', () => {
  expect(classify(failureOf('EACCES', { syscall: 'connect' }))).toBe('other')
})

test('a file of its certificates that is not there is no database that is away', () => {
  expect(classify(failureOf('ENOENT', { syscall: 'open' }))).toBe('other')
})

test.each(['53000', '57P04', '25P04', '40003'])('the state %s is away', (code) => {
  expect(toStoreError(failureOf(code))).toMatchObject(retry)
})

test('a statement that comes when the pool is closed is told to retry', async () => {
  const options = { url: 'postgres://127.0.0.1:1/x', schema: 'x', connections: 'direct', logger: silentLogger } as const
  const pools = new Pools(options)
  await pools.close()
  await expect(pools.read.all('SELECT 1').catch((error) => Promise.reject(toStoreError(error)))).rejects.toMatchObject(
    retry,
  )
})
