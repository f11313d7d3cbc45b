import { describe, expect, test } from 'vitest'
import { parseAddress } from '../../../src/config/settings/address.ts'

describe('an address', () => {
  test.each([
    [':8080', undefined, 8080],
    ['localhost:0', 'localhost', 0],
    ['127.0.0.1:65535', '127.0.0.1', 65535],
    ['[::1]:80', '::1', 80],
    ['box.lan:1', 'box.lan', 1],
  ])('%s is read', (address, host, port) => {
    expect(parseAddress(address)).toEqual({ host, port })
  })

  test.each(['', '8080', 'localhost', 'localhost:', '::1:80', '[::1]', '[]:80', 'a:65536', 'a:-1', 'a b:1', 'a:1:2'])(
    '%j is refused',
    (address) => {
      expect(parseAddress(address)).toBeUndefined()
    },
  )
})
