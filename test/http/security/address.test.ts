import { describe, expect, test } from 'vitest'
import { createAddressOf, networkOf } from '../../../src/http/security/address.ts'

describe('the address of a caller', () => {
  test.each([
    ['10.0.0.1', undefined, '10.0.0.1'],
    ['10.0.0.1', '192.0.2.7', '192.0.2.7'],
    ['10.0.0.1', '203.0.113.9, 192.0.2.7', '192.0.2.7'],
    ['10.0.0.1', '203.0.113.9, 192.0.2.7, 10.0.0.2', '192.0.2.7'],
    ['::ffff:10.0.0.1', '192.0.2.7', '192.0.2.7'],
    ['10.0.0.1', '192.0.2.7:4711', '192.0.2.7'],
    ['10.0.0.1', '[2001:db8::7]:4711', '2001:db8::7'],
    ['fd00::1', '2001:db8::7', '2001:db8::7'],
    ['10.0.0.1', '192.0.2.7, nonsense', '10.0.0.1'],
    ['10.0.0.1', 'unknown', '10.0.0.1'],
    ['10.0.0.1', '', '10.0.0.1'],
    ['10.0.0.1', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
    ['192.0.2.1', '203.0.113.9', '192.0.2.1'],
    ['2001:db8::1', '203.0.113.9', '2001:db8::1'],
    [undefined, '203.0.113.9', undefined],
  ])('called by %s with X-Forwarded-For %j is %s', (peer, forwarded, address) => {
    expect(createAddressOf(['10.0.0.0/8', 'fd00::/8'])(peer, forwarded)).toBe(address)
  })

  test('is that of the connection when no proxy is trusted', () => {
    expect(createAddressOf([])('::ffff:10.0.0.1', '192.0.2.7')).toBe('10.0.0.1')
  })
})

describe('a network', () => {
  test.each([
    ['192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2:ffff::', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1', 'fe80:0:0:0::/64'],
    ['', ''],
  ])('of %s is %s', (address, network) => {
    expect(networkOf(address)).toBe(network)
  })
})
