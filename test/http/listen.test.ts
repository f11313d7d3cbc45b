import { describe, expect, test } from 'vitest'
import { urlOf } from '../../src/http/listen.ts'
import { createKernel } from '../support/kernel.ts'
import { get, listening } from './support.ts'

describe('an address', () => {
  test('becomes a URL that can be opened here', () => {
    expect(['0.0.0.0', '::', '::1', 'localhost'].map((host) => urlOf(host, 1))).toEqual([
      'http://127.0.0.1:1',
      'http://127.0.0.1:1',
      'http://[::1]:1',
      'http://localhost:1',
    ])
  })

  test('that is taken is said to be', async () => {
    const { host, port } = await listening([get('/x')])
    const error = await createKernel()
      .listen({ host, port })
      .catch((reason: unknown) => reason)
    expect(error).toMatchObject({
      code: 'conflict',
      message: expect.stringContaining(`${host}:${port}`),
      cause: { code: 'EADDRINUSE' },
    })
  })

  test('that this machine does not have is said to be wrong', async () => {
    await expect(createKernel().listen({ host: '203.0.113.1', port: 0 })).rejects.toMatchObject({
      code: 'invalid_request',
    })
  })

  test('of every interface answers on loopback', async () => {
    const { kernel } = await listening([get('/x')])
    const other = createKernel()
    other.setRoutes([get('/x')])
    const { url } = await other.listen({ host: undefined, port: 0 })
    expect((await fetch(`${url}/x`)).status).toBe(200)
    await Promise.all([other.close({ deadlineMs: 0 }), kernel.close({ deadlineMs: 0 })])
  })
})
