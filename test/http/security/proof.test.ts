import { createHmac } from 'node:crypto'
import { afterEach, describe, expect, it } from 'vitest'
import { isProof, placeOf } from '../../../src/core/access/server-proof.ts'
import type { Kernel } from '../../../src/http/kernel.ts'
import { json } from '../../../src/http/reply.ts'
import { createKernel } from '../../support/kernel.ts'

const secret = Buffer.alloc(32, 1).toString('base64url')
const challenge = Buffer.alloc(32, 2).toString('base64url')
const proofOf = (place: string) =>
  createHmac('sha256', Buffer.alloc(32, 1)).update(`${challenge} ${place}`).digest('base64url')

let kernel: Kernel | undefined
afterEach(() => kernel?.close({ deadlineMs: 0 }))

async function open(host: string, handler = () => json({ mine: true })) {
  kernel = createKernel({ proof: { path: '/alive', secret } })
  kernel.setRoutes(
    ['/alive', '/other'].map((path) => ({
      method: 'GET' as const,
      path,
      scope: 'open' as const,
      handler: async () => handler(),
    })),
  )
  const { addressUrl, port } = await kernel.listen({ host, port: 0 })
  const ask = (
    path: string,
    headers: Record<string, string> = { 'X-Agentserve-Challenge': challenge },
    method = 'GET',
  ) => fetch(addressUrl + path, { headers, method, redirect: 'manual' })
  return { ask, port, url: addressUrl }
}

describe('the proof of a server', () => {
  it.each(['127.0.0.1', '::1', '0.0.0.0', 'localhost'])('is in the answer to a challenge at %s', async (host) => {
    const { ask, url } = await open(host)
    const answer = await ask('/alive')
    expect(answer.headers.get('x-agentserve-proof')).toBe(proofOf(new URL(url).host))
    expect(await answer.json()).toEqual({ mine: true })
  })

  it('is there when the route fails', async () => {
    const { ask } = await open('127.0.0.1', () => {
      throw new Error('a health route of somebody')
    })
    const answer = await ask('/alive')
    expect(answer.status).toBe(500)
    expect(answer.headers.has('x-agentserve-proof')).toBe(true)
  })

  it.each<[string, Record<string, string>]>([
    ['no challenge', {}],
    ['an empty challenge', { 'X-Agentserve-Challenge': '' }],
    ['a short challenge', { 'X-Agentserve-Challenge': challenge.slice(1) }],
    ['a long challenge', { 'X-Agentserve-Challenge': `${challenge}A` }],
    ['a huge challenge', { 'X-Agentserve-Challenge': 'A'.repeat(8_000) }],
    ['another alphabet', { 'X-Agentserve-Challenge': `${challenge.slice(1)}+` }],
  ])('is not in the answer to %s', async (_, headers) => {
    const { ask } = await open('127.0.0.1')
    const answer = await ask('/alive', headers)
    expect(answer.status).toBe(200)
    expect(answer.headers.has('x-agentserve-proof')).toBe(false)
  })

  it('is given at the health path alone, to GET alone', async () => {
    const { ask } = await open('127.0.0.1')
    expect((await ask('/other')).headers.has('x-agentserve-proof')).toBe(false)
    expect((await ask('/alive', undefined, 'HEAD')).headers.has('x-agentserve-proof')).toBe(false)
  })

  it('is for the address of the connection, whatever the Host header says', async () => {
    const { ask, port } = await open('127.0.0.1')
    const { request } = await import('node:http')
    const headers = { 'x-agentserve-challenge': challenge, host: `127.0.0.2:${port}` }
    const proof = await new Promise((resolve) => {
      request({ port, host: '127.0.0.1', path: '/alive', headers, agent: false }, (answer) => {
        resolve(answer.resume().headers['x-agentserve-proof'])
      }).end()
    })
    expect(proof).toBe((await ask('/alive')).headers.get('x-agentserve-proof'))
  })
})

describe('isProof', () => {
  it('takes the one right text', () => {
    const place = placeOf('::ffff:127.0.0.1', 80)
    expect(place).toBe('127.0.0.1:80')
    const proof = proofOf(place)
    expect(isProof(proof, secret, challenge, place)).toBe(true)
    for (const wrong of [undefined, '', `${proof}A`, proof.slice(1), 'é'.repeat(43), challenge])
      expect(isProof(wrong, secret, challenge, place)).toBe(false)
    expect(isProof(proof, secret, challenge, '127.0.0.1:81')).toBe(false)
  })
})
