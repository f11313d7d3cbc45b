import { describe, expect, test } from 'vitest'
import type { TokenSettings } from '../../../src/http/tokens/settings.ts'
import { opened, words } from './opened.ts'

describe('claims', () => {
  test.each<[string, Partial<TokenSettings>, Record<string, unknown>, object]>([
    ['another user claim', { userClaim: 'email' }, { email: 'a@b.c' }, { caller: 'jwt:a@b.c', userId: 'a@b.c' }],
    ['a claim in a claim', { userClaim: 'user.id' }, { user: { id: 'x' } }, { userId: 'x' }],
    ['a name with dots first', { userClaim: 'user.id' }, { 'user.id': 'y', user: { id: 'x' } }, { userId: 'y' }],
    ['spaces in a name', {}, { sub: 'a b%' }, { caller: 'jwt:a%20b%25', userId: 'a b%' }],
    ['scopes as a text', { scopeClaim: 'scope' }, { scope: 'openid run sessions' }, { scopes: ['run', 'sessions'] }],
    ['scopes as a list', { scopeClaim: 'roles' }, { roles: ['run', 'x'] }, { scopes: ['run'] }],
    ['no scopes', { scopeClaim: 'scope' }, { scope: '' }, { userId: 'ann', scopes: [] }],
    [
      'a prefix',
      { scopeClaim: 'scope', scopePrefix: 'as:' },
      { scope: 'as:run sessions as:admin' },
      { scopes: ['run'] },
    ],
    ['never those about all users', { scopeClaim: 'scope' }, { scope: 'run admin metrics' }, { scopes: ['run'] }],
    [
      'all users',
      { scopeClaim: 'scope', allUsersScope: 'everybody' },
      { scope: 'everybody run admin' },
      { userId: null, scopes: ['run', 'admin'] },
    ],
    [
      'an operator',
      { scopeClaim: 'realm_access.roles', operatorScope: 'boss' },
      { realm_access: { roles: ['boss'] } },
      { caller: 'jwt:ann', userId: null },
    ],
  ])('%s', async (_name, settings, claims, seen) => {
    const { issuer, ask } = await opened(settings)
    const { status, body } = await ask(await issuer.sign(claims))
    expect([status, body]).toEqual([200, expect.objectContaining(seen)])
  })

  test.each<[unknown]>([[undefined], [''], [' '], [7], [null], [['ann']], [{}], ['x'.repeat(257)], ['a\nb'], [true]])(
    'a user that is %j is 401',
    async (sub) => {
      const { issuer, ask } = await opened()
      expect(await words(ask(await issuer.sign({ sub })))).toEqual([
        401,
        'unauthorized',
        expect.stringContaining("'sub'"),
      ])
    },
  )

  test.each<[unknown]>([[undefined], [7], [null], [{}], [[1]], [['run', null]], [true]])(
    'scopes that are %j are 403',
    async (scope) => {
      const { issuer, ask } = await opened({ scopeClaim: 'scope' })
      expect(await words(ask(await issuer.sign({ scope })))).toEqual([
        403,
        'forbidden',
        expect.stringContaining("'scope'"),
      ])
    },
  )

  test.each(['__proto__', 'constructor', 'toString', '__proto__.sub'])('a claim %s is not found', async (userClaim) => {
    const { issuer, ask } = await opened({ userClaim })
    expect((await ask(await issuer.sign())).status).toBe(401)
  })
})
