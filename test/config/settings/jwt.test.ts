import { describe, expect, test } from 'vitest'
import { jwtSettings } from '../../../src/config/settings/jwt.ts'
import { check } from '../../../src/schema/check.ts'

function complaintsOf(jwt: unknown): string[] {
  const complaints: string[] = []
  check(jwtSettings, jwt, 'auth.jwt', (key, message) => complaints.push(`${key} ${message}`))
  return complaints
}

const least = { issuer: 'https://login.example.com/realms/team', audience: 'team' }
const scoped = { ...least, scopeClaim: 'scope' }

describe('tokens', () => {
  test('need an issuer and an audience, and have defaults for the rest', () => {
    expect(jwtSettings.parse(least)).toEqual({
      ...least,
      audience: ['team'],
      userClaim: 'sub',
      scopePrefix: '',
      clockSkew: 30_000,
    })
    expect(jwtSettings.parse({ ...least, audience: ['a', 'b'], clockSkew: 0 })).toMatchObject({
      audience: ['a', 'b'],
      clockSkew: 0,
    })
  })

  test.each([
    'https://a.b',
    'https://a.b/',
    'http://127.0.0.1:8',
    'http://[::1]:8/x',
    'http://localhost',
    'http://a.localhost',
  ])('may be of the issuer %s', (issuer) => {
    expect(complaintsOf({ ...least, issuer })).toEqual([])
  })

  test.each<[unknown, string]>([
    [undefined, 'auth.jwt is missing; it must be an object with issuer, audience'],
    [true, 'auth.jwt must be an object with issuer, audience'],
    [{ audience: 'team' }, 'auth.jwt.issuer is missing'],
    [{ issuer: least.issuer }, 'auth.jwt.audience'],
    ...[
      'http://a.b',
      'http://127.0.0.1.evil.org',
      'ftp://a.b',
      'a.b',
      'https://u:p@a.b',
      'https://a.b?x',
      'https://a.b#x',
      7,
    ].map((issuer): [unknown, string] => [{ ...least, issuer }, "auth.jwt.issuer must be the issuer's https address"]),
    [{ ...least, audience: [] }, 'auth.jwt.audience must have at least one text'],
    [{ ...least, audience: [''] }, 'auth.jwt.audience.0 must be a text'],
    [{ ...least, userClaim: '' }, 'auth.jwt.userClaim must be the name of a claim'],
    [{ ...least, clockSkew: '6m' }, 'auth.jwt.clockSkew must be a time from 0 to 5 minutes'],
    [{ ...least, operatorScope: 'boss' }, 'auth.jwt.operatorScope needs scopeClaim'],
    [{ ...least, allUsersScope: 'all' }, 'auth.jwt.allUsersScope needs scopeClaim'],
    [{ ...least, scopePrefix: 'a:' }, 'auth.jwt.scopePrefix needs scopeClaim'],
    [{ ...scoped, operatorScope: 'run' }, "auth.jwt.operatorScope is 'run', which already opens routes"],
    [{ ...scoped, scopePrefix: 'a:', allUsersScope: 'a:admin' }, "auth.jwt.allUsersScope is 'a:admin'"],
    [{ ...scoped, operatorScope: 'x', allUsersScope: 'x' }, 'auth.jwt.allUsersScope is the same as operatorScope'],
    [{ ...scoped, operatorScope: 'a b' }, 'auth.jwt.operatorScope must be a scope'],
    [{ ...least, audiences: 'team' }, "auth.jwt.audiences is not a setting; did you mean 'audience'?"],
    [{ ...least, algorithms: ['HS256'] }, 'auth.jwt.algorithms is not a setting'],
  ])('are refused with the reason: %j', (jwt, complaint) => {
    expect(complaintsOf(jwt)).toEqual([expect.stringContaining(complaint)])
  })
})
