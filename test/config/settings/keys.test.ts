import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { authKeys, type KeySettings } from '../../../src/config/settings/keys.ts'
import { check } from '../../../src/schema/check.ts'

const hashed = (key: string) => `sha256:${createHash('sha256').update(key).digest('hex')}`

function complaintsOf(keys: unknown): string[] {
  const complaints: string[] = []
  check(authKeys, keys, 'auth.keys', (key, message) => complaints.push(`${key} ${message}`))
  return complaints
}

describe('keys', () => {
  test('of operators may do everything, those of users what is theirs, others what they are given', () => {
    const keys: (string | KeySettings)[] = [
      'operator',
      { key: 'desk', id: 'front-desk' },
      { key: 'ann', userId: 'ann' },
      { key: 'scrape', scopes: ['metrics'] },
      { key: 'bob', userId: 'bob', scopes: ['run', 'prompts'] },
    ]
    expect(complaintsOf(keys)).toEqual([])
    expect(authKeys.parse(keys).map(({ id, userId, scopes }) => [id, userId, scopes])).toEqual([
      ['key:0', undefined, undefined],
      ['front-desk', undefined, undefined],
      ['key:2', 'ann', ['run', 'sessions', 'knowledge:read']],
      ['key:3', undefined, ['metrics']],
      ['key:4', 'bob', ['run', 'prompts']],
    ])
  })

  test.each([
    [[{ key: 'k', user_id: 'ann' }], "auth.keys.0.user_id is now called 'userId': rename it"],
    [[{ userId: 'ann' }], 'auth.keys.0.key is missing'],
    [
      [{ key: 'k', userId: 'ann', scopes: ['run', 'admin'] }],
      "auth.keys.0.scopes.1 is 'admin', which a key with userId",
    ],
    [[{ key: 'k', userId: 'ann', scopes: ['metrics'] }], "auth.keys.0.scopes.0 is 'metrics', which a key with userId"],
    [[{ key: 'k', scopes: ['sesions'] }], "auth.keys.0.scopes.0 must be one of 'run', 'sessions'"],
    [[{ key: 'k', id: 'anonymous' }], "(and not 'anonymous' or 'server'), not 'anonymous'"],
    [[{ key: 'k', id: 'server' }], "(and not 'anonymous' or 'server'), not 'server'"],
    [[{ key: 'k', id: 'key:1' }], "(and not 'anonymous' or 'server'), not 'key:1'"],
    [['sha256:abc'], "auth.keys.0 must be a text of visible ASCII characters, or 'sha256:' and 64"],
    [['k', { key: 'k', userId: 'ann' }], 'auth.keys.1 is in the list before, with other rights'],
    [
      [
        { key: 'k', scopes: ['run'] },
        { key: hashed('k'), scopes: ['sessions'] },
      ],
      'auth.keys.1 is in the list before',
    ],
    [
      [
        { key: 'a', id: 'x', userId: 'ann' },
        { key: 'b', id: 'x', userId: 'bob' },
      ],
      "auth.keys.1.id is 'x', the id of a key",
    ],
  ])('are refused with the reason: %j', (keys, complaint) => {
    expect(complaintsOf(keys)).toEqual([expect.stringContaining(complaint)])
  })

  test('never stand in a complaint', () => {
    const secret = 'sEcReT-key'
    const complaints = [
      complaintsOf([secret, { key: secret, userId: 'ann' }]),
      complaintsOf([`${secret} with a space`]),
      complaintsOf([{ key: `sha256:${secret}`, user_id: 'ann' }]),
    ].flat()
    expect(complaints.length).toBeGreaterThanOrEqual(3)
    expect(complaints.join()).not.toContain(secret)
  })

  test('may be written twice with the same rights, and have one name while one takes the place of the other', () => {
    const scopes = ['sessions', 'run'] as const
    expect(complaintsOf(['k', hashed('k')])).toEqual([])
    expect(
      complaintsOf([
        { key: 'old', id: 'app', scopes: [...scopes] },
        { key: 'new', id: 'app', scopes: [...scopes].reverse() },
      ]),
    ).toEqual([])
  })
})
