import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { type DownloadOptions, download } from '../../src/runtime/download.ts'
import type { Network } from '../../src/runtime/public-network.ts'

const publicAddress = '93.184.216.34'
/** Names of this test; all that is public leads to the test's own server. */
const names: Record<string, string[]> = {
  'public.test': [publicAddress],
  'private.test': ['192.168.1.1'],
  'metadata.test': ['169.254.169.254'],
  'both.test': [publicAddress, '127.0.0.1'],
  'six.test': ['fd00:ec2::254'],
  'mapped.test': ['::ffff:10.0.0.1'],
}

let server: Server
let port: number
let asked: IncomingMessage[] = []
let connections = 0
let looked: string[] = []

const network: Network = {
  async lookup(hostname) {
    looked.push(hostname)
    const found = names[hostname] ?? ['127.0.0.1']
    return found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
  },
  reach: () => '127.0.0.1',
}

beforeAll(async () => {
  server = createServer((request, response) => {
    asked.push(request)
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://public.test')
    if (pathname === '/to') response.writeHead(302, { location: searchParams.get('url') ?? '' }).end()
    else if (pathname === '/endless') response.writeHead(200).write('x')
    else if (pathname === '/silent') return
    else if (pathname === '/large') response.end(Buffer.alloc(2_000))
    else if (pathname === '/growing') response.write(Buffer.alloc(600), () => response.end(Buffer.alloc(600)))
    else if (pathname === '/gone') response.writeHead(404).end()
    else response.setHeader('content-type', 'image/png').end('bytes')
  }).on('connection', () => connections++)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as AddressInfo).port
})
afterAll(() => new Promise((resolve) => server.close(resolve).closeAllConnections()))
beforeEach(() => {
  asked = []
  looked = []
  connections = 0
})

const { signal } = new AbortController()
const options: DownloadOptions = { allowHttp: true, allowPrivate: false, refuseCredentials: true, signal, network }
const fetched = (address: string, more: Partial<DownloadOptions> = {}) => download(address, { ...options, ...more })
const at = (host: string, path = '/') => `http://${host}:${port}${path}`

it('fetches what is at a public address, without keys of any kind', async () => {
  const page = await fetched(at('public.test'))
  expect(Buffer.from(page?.bytes ?? []).toString()).toBe('bytes')
  expect(page?.mediaType).toBe('image/png')
  expect(asked[0]?.headers).not.toHaveProperty('authorization')
  expect(asked[0]?.headers).not.toHaveProperty('cookie')
})

it.each(['private.test', 'metadata.test', 'both.test', 'six.test', 'mapped.test', 'localhost'])(
  'makes no connection for the name %s, which has a private address',
  async (host) => {
    await expect(fetched(at(host))).rejects.toMatchObject({ code: 'invalid_request' })
    expect(looked).toEqual([host])
    expect(connections).toBe(0)
  },
)

it.each([
  '127.0.0.1',
  '0.0.0.0',
  '2130706433',
  '0x7f000001',
  '0177.0.0.1',
  '127.1',
  '127.0.0.1.',
  '①②⑦.0.0.1',
  '169.254.169.254',
  '100.64.0.1',
  '10.0.0.1',
  '255.255.255.255',
  '[::]',
  '[::1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::127.0.0.1]',
  '[64:ff9b::7f00:1]',
  '[2002:7f00:1::]',
  '[fe80::1]',
  '[fc00::1]',
  '[ff02::1]',
])('makes no connection to the private address %s', async (host) => {
  await expect(fetched(at(host))).rejects.toThrow('is not an address on the public internet')
  expect(looked).toEqual([])
  expect(connections).toBe(0)
})

it.each(['http://127.0.0.1/', 'http://[::1]/', 'http://private.test/', 'http://localhost/', '//10.0.0.1/'])(
  'follows no redirect to %s',
  async (target) => {
    await expect(fetched(at('public.test', `/to?url=${encodeURIComponent(target)}`))).rejects.toMatchObject({
      code: 'invalid_request',
    })
    expect(asked).toHaveLength(1)
  },
)

it('follows no redirect to another protocol, and not for ever', async () => {
  const file = fetched(at('public.test', '/to?url=file:///etc/passwd'))
  await expect(file).rejects.toThrow('is not an https:// address')
  const circle = fetched(at('public.test', '/to'))
  await expect(circle).rejects.toThrow('redirects more than 5 times')
  await expect(fetched(at('public.test', '/to?url=http://%5B'))).rejects.toThrow('redirects to an invalid address')
})

it('follows a redirect to a public address', async () => {
  const page = await fetched(at('public.test', `/to?url=${encodeURIComponent(at('public.test'))}`))
  expect(Buffer.from(page?.bytes ?? []).toString()).toBe('bytes')
})

it.each(['/endless', '/silent'])('gives up an answer that never ends: %s', async (path) => {
  await expect(fetched(at('public.test', path), { timeoutMs: 200 })).rejects.toThrow('it took longer than 200 ms')
})

it.each(['/large', '/growing'])('stops at an answer above the limit: %s', async (path) => {
  const large = fetched(at('public.test', path), { maxBytes: 1_000 })
  await expect(large).rejects.toMatchObject({ code: 'payload_too_large' })
})

it('says which status it got', async () => {
  await expect(fetched(at('public.test', '/gone'))).rejects.toThrow('answered 404')
})

it('refuses a user and a password, and does not repeat them', async () => {
  for (const address of [at('ann:secret@public.test'), at('ann@public.test'), 'http://public.test:80@127.0.0.1/']) {
    const refused = await fetched(address).catch((error: unknown) => String(error))
    expect(refused).toContain('was given with a user or a password')
    expect(refused).not.toContain('secret')
  }
  expect(connections).toBe(0)
})

it('does not use the proxies of the environment', async () => {
  try {
    for (const name of ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'ALL_PROXY']) vi.stubEnv(name, 'http://127.0.0.1:1')
    vi.stubEnv('NODE_USE_ENV_PROXY', '1')
    expect((await fetched(at('public.test')))?.mediaType).toBe('image/png')
    await expect(fetched(at('private.test'))).rejects.toThrow('public internet')
  } finally {
    vi.unstubAllEnvs()
  }
})

it('ends with its signal', async () => {
  const stopped = new AbortController()
  const fetching = fetched(at('public.test', '/silent'), { signal: stopped.signal })
  stopped.abort(new Error('stopped by the caller'))
  await expect(fetching).rejects.toThrow('stopped by the caller')
})
