import type { LookupAddress } from 'node:dns'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { checkTarget, type NotificationTarget, type PushSettings } from '../../../src/service/notifications/target.ts'
import { type Receiver, startReceiver } from '../../support/push-receiver.ts'
import { echo, request } from '../../support/services.ts'
import { openNotifying } from './support.ts'

const publicAddress = '93.184.216.34'
const found = (address: string): LookupAddress[] => [{ address, family: address.includes(':') ? 6 : 4 }]
const names: Record<string, string> = {
  'public.test': publicAddress,
  'private.test': '10.1.2.3',
  'mapped.test': '::ffff:169.254.169.254',
}
const guarded: PushSettings = {
  allowHttp: false,
  allowPrivate: false,
  hosts: [],
  configs: 5,
  timeoutMs: 5_000,
  network: {
    lookup: async (name) => {
      const address = names[name]
      if (address === undefined) throw new Error('ENOTFOUND')
      return found(address)
    },
  },
}
const check = (target: Partial<NotificationTarget>, more: Partial<PushSettings> = {}) =>
  checkTarget({ url: 'https://public.test/hook', version: '1.0', ...target }, { ...guarded, ...more })

it('accepts an https address on the public internet, and http only where that is allowed', async () => {
  await check({})
  await expect(check({ url: 'http://public.test/' })).rejects.toMatchObject({ code: 'invalid_request' })
  await check({ url: 'http://public.test/' }, { allowHttp: true })
})

it.each([
  'not an address',
  'ftp://public.test/',
  'file:///etc/passwd',
  'https://user:secret@public.test/',
  'https://localhost/',
  'https://private.test/',
  'https://mapped.test/',
  'https://127.0.0.1/',
  'https://2130706433/',
  'https://0x7f.1/',
  'https://10.0.0.1/',
  'https://100.64.0.1/',
  'https://169.254.169.254/latest/meta-data',
  'https://192.168.0.1/',
  'https://224.0.0.1/',
  'https://240.0.0.1/',
  'https://255.255.255.255/',
  'https://0.0.0.0/',
  'https://[::1]/',
  'https://[::]/',
  'https://[fd00::1]/',
  'https://[fe80::1]/',
  'https://[ff02::1]/',
  'https://[::ffff:10.0.0.1]/',
  'https://[64:ff9b::a00:1]/',
  `https://public.test/${'x'.repeat(2_100)}`,
])('refuses %s at registration, and names the field', async (url) => {
  await expect(check({ url })).rejects.toMatchObject({ code: 'invalid_request', details: [{ path: 'url' }] })
})

it('says the same of a private name and of none, so that nobody learns of private names', async () => {
  const messages = await Promise.all(
    ['private', 'nowhere'].map((name) =>
      check({ url: `https://${name}.test/` }).then(
        () => '',
        (error: Error) => error.message.replace(name, 'x'),
      ),
    ),
  )
  expect(messages[0]).toContain("The name 'x.test' leads to no address on the public internet")
  expect(messages[1]).toBe(messages[0])
})

it('notifies only the hosts of the list when there is one', async () => {
  await check({}, { hosts: ['public.test'] })
  const refused = check({}, { hosts: ['other.test'] })
  await expect(refused).rejects.toMatchObject({ message: /does not notify/ })
})

it.each<[string, Partial<NotificationTarget>]>([
  ['id', { id: 'a/b' }],
  ['token', { token: 'two\r\nlines: x' }],
  ['token', { token: 'x'.repeat(5_000) }],
  ['authentication.scheme', { authentication: { scheme: 'Bearer x' } }],
  ['authentication.credentials', { authentication: { scheme: 'Bearer', credentials: 'é' } }],
])('refuses what can be no header or id: %s', async (path, target) => {
  await expect(check(target)).rejects.toMatchObject({ code: 'invalid_request', details: [{ path }] })
})

let receiver: Receiver
beforeEach(async () => {
  receiver = await startReceiver()
})
afterEach(() => receiver.close())

it.each([false, true])('connects to no name that has become private since (rebinding); moved: %s', async (moves) => {
  let looks = 0
  const network = {
    lookup: async () => found(moves && ++looks > 1 ? '127.0.0.1' : publicAddress),
    // What is public leads to the test's own server.
    reach: () => '127.0.0.1',
  }
  const { runs, notifications, told } = await openNotifying({ echo }, { more: { allowPrivate: false, network } })
  const { runId, result } = await runs.start(request('echo', 'hi'))
  await result()
  await notifications.set(runId, { url: `http://public.test:${receiver.port}/hook`, version: '1.0' })
  if (moves) {
    await vi.waitFor(() =>
      expect(told.at(0)).toMatchObject({ fields: { reason: expect.stringContaining('public internet') } }),
    )
    expect(receiver.connections()).toBe(0)
  } else await expect.poll(() => receiver.received.length).toBe(1)
  await notifications.close()
})
