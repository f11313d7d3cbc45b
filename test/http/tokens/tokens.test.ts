import { generateKeyPair } from 'jose'
import { describe, expect, test } from 'vitest'
import { audience, keysPath, sendJson } from '../../support/issuer.ts'
import { opened, seconds, words } from './opened.ts'

describe('a token', () => {
  test.each(['RS256', 'PS384', 'ES256', 'ES512', 'EdDSA', 'Ed25519'])('signed by %s is its user', async (alg) => {
    const { issuer, ask } = await opened({}, alg)
    const { status, body } = await ask(await issuer.sign())
    expect([status, body]).toEqual([
      200,
      { caller: 'jwt:ann', userId: 'ann', scopes: ['run', 'sessions', 'knowledge:read'] },
    ])
  })

  test('is one whatever case its type has, for one of several audiences, without a key id', async () => {
    const { issuer, ask } = await opened()
    for (const token of [
      issuer.sign({}, { typ: 'at+JWT' }),
      issuer.sign({}, { typ: 'application/at+jwt' }),
      issuer.sign({ aud: ['other', audience] }),
      issuer.sign({}, { kid: undefined }),
      issuer.sign({ iat: undefined, nbf: seconds }),
    ])
      expect((await ask(await token)).status).toBe(200)
  })

  test.each<[string, Record<string, unknown>, string]>([
    ['expired', { exp: seconds - 31 }, 'it has expired (exp)'],
    ['not valid yet', { nbf: seconds + 31 }, 'it is not valid yet (nbf)'],
    ['issued in the future', { iat: seconds + 31 }, 'it was issued in the future (iat)'],
    ['without an end', { exp: undefined }, "it has no claim 'exp'"],
    ['with an end that is a text', { exp: String(seconds + 60) }, "its claim 'exp' can't be used"],
    ['with a start that is a text', { nbf: String(seconds) }, "its claim 'nbf' can't be used"],
    ['of another issuer', { iss: 'https://login.example.org' }, 'it is of another issuer (iss)'],
    ['without an issuer', { iss: undefined }, "it has no claim 'iss'"],
    ['for another audience', { aud: 'others' }, 'it is for another audience (aud)'],
    ['for other audiences', { aud: ['others', 'teams'] }, 'it is for another audience (aud)'],
    ['without an audience', { aud: undefined }, "it has no claim 'aud'"],
    ['bound to a key of its client', { cnf: { jkt: 'x' } }, 'it is bound to a key of its client (cnf)'],
  ])('%s is refused', async (_name, claims, problem) => {
    const { issuer, ask } = await opened()
    expect(await words(ask(await issuer.sign(claims)))).toEqual([401, 'unauthorized', expect.stringContaining(problem)])
  })

  test('may be off by the clock skew, and no more', async () => {
    const { issuer, ask, pass } = await opened({ clockSkew: 10_000 })
    const token = await issuer.sign({ nbf: seconds + 10, iat: seconds + 10, exp: seconds + 60 })
    expect((await ask(token)).status).toBe(200)
    pass(69_000)
    expect((await ask(token)).status).toBe(200)
    pass(1_000)
    expect((await ask(token)).status).toBe(401)
    expect((await ask(await issuer.sign({ nbf: seconds + 81 }))).status).toBe(401)
  })

  test.each<[unknown]>([['logout+jwt'], ['secevent+jwt'], ['dpop+jwt'], [5], [{}], [null]])(
    'of the type %j is for something else',
    async (typ) => {
      const { issuer, ask } = await opened()
      expect(await words(ask(await issuer.sign({}, { typ: typ as string })))).toEqual([
        401,
        'unauthorized',
        expect.stringContaining('typ'),
      ])
    },
  )

  test('without a signature is refused, in any spelling of none', async () => {
    const { issuer, ask } = await opened()
    const [, payload] = (await issuer.sign()).split('.')
    for (const alg of ['none', 'None', 'NONE', '']) {
      const header = Buffer.from(JSON.stringify({ alg, kid: 'key-0' })).toString('base64url')
      for (const signature of ['', 'AAAA']) {
        const { status } = await ask(`${header}.${payload}.${signature}`)
        expect([alg, status]).toEqual([alg, 401])
      }
    }
  })

  test('signed by a secret is refused, also by the public key as the secret', async () => {
    const { issuer, ask } = await opened({}, 'RS256')
    const publicKey = await issuer.publicKeyText()
    const { keys } = (await (await fetch(issuer.url + keysPath)).json()) as { keys: object[] }
    for (const secret of [publicKey, publicKey.trim(), JSON.stringify(keys[0])]) {
      const key = new TextEncoder().encode(secret)
      for (const alg of ['HS256', 'HS384', 'HS512']) {
        const [status, , message] = await words(ask(await issuer.sign({}, { alg, key })))
        expect([alg, status, message]).toEqual([alg, 401, expect.stringContaining('(alg)')])
      }
    }
  })

  test('a secret key among the published ones makes no token valid', async () => {
    const { issuer, ask } = await opened()
    const key = new TextEncoder().encode('a secret that everybody can read!')
    const jwk = { kty: 'oct', kid: 'open', alg: 'HS256', k: Buffer.from(key).toString('base64url') }
    issuer.answers.set(keysPath, (_request, response) => sendJson(response, { keys: [jwk] }))
    expect((await ask(await issuer.sign({}, { alg: 'HS256', key, kid: 'open' }))).status).toBe(401)
  })

  test('signed by another key is refused, under a known name and under none', async () => {
    const { issuer, ask } = await opened()
    const { privateKey } = await generateKeyPair('ES256')
    expect(await words(ask(await issuer.sign({}, { key: privateKey })))).toEqual([
      401,
      'unauthorized',
      expect.stringContaining('its signature is wrong'),
    ])
    expect((await ask(await issuer.sign({}, { key: privateKey, kid: undefined }))).status).toBe(401)
  })

  test('with another algorithm than that of its key is refused', async () => {
    const { issuer, ask } = await opened({}, 'RS256')
    const { privateKey } = await generateKeyPair('PS256')
    expect((await ask(await issuer.sign({}, { alg: 'PS256', key: privateKey }))).status).toBe(401)
  })

  test('that was changed, is cut, or is no token at all is refused', async () => {
    const { issuer, ask } = await opened()
    const token = await issuer.sign()
    const [header = '', payload = '', signature = ''] = token.split('.')
    const forged = Buffer.from(JSON.stringify({ iss: issuer.url, aud: audience, sub: 'bob', exp: seconds + 60 }))
    for (const wrong of [
      `${header}.${forged.toString('base64url')}.${signature}`,
      `${header}.${payload}.${signature.slice(0, -4)}`,
      `${header}.${payload}.`,
      `${payload}.${header}.${signature}`,
      'a.b.c',
      `${token}.${token}.x`,
      'bnVsbA.bnVsbA.bnVsbA',
      `${Buffer.from('{"alg":"ES256","crit":["x"],"x":1}').toString('base64url')}.${payload}.${signature}`,
    ])
      expect([wrong, (await ask(wrong)).status]).toEqual([wrong, 401])
  })

  test('of more than 8 KB is refused before it is read', async () => {
    const { issuer, ask } = await opened()
    expect(await words(ask(await issuer.sign({ more: 'x'.repeat(8_000) })))).toEqual([
      401,
      'unauthorized',
      expect.stringContaining('8192 characters'),
    ])
    expect(issuer.asked.size).toBe(0)
  })

  test('is only taken as a bearer token, beside keys', async () => {
    const { issuer, ask } = await opened()
    const token = await issuer.sign()
    expect((await ask('', { 'x-api-key': token })).status).toBe(401)
    expect((await ask('', { authorization: `Basic ${token}` })).status).toBe(401)
    expect((await ask('', {})).body.error.message).toContain('requires an API key or token')
    expect((await ask('a-key-beside-it')).body.caller).toBe('key:0')
  })

  test('counts as a wrong key when the issuer has not signed it, and a valid one is still taken', async () => {
    const { issuer, ask } = await opened()
    const expired = await issuer.sign({ exp: seconds - 100 })
    for (let time = 0; time < 25; time++) expect((await ask(expired)).status).toBe(401)
    const { privateKey } = await generateKeyPair('ES256')
    const forged = await issuer.sign({}, { key: privateKey })
    const statuses: number[] = []
    for (let time = 0; time < 21; time++) statuses.push((await ask(forged)).status)
    expect([statuses[0], statuses.at(-1)]).toEqual([401, 429])
    expect((await ask(await issuer.sign())).status).toBe(200)
  })

  test('is never in the log, nor in an answer', async () => {
    const { issuer, ask, logged } = await opened()
    const token = await issuer.sign({ exp: seconds - 100 })
    issuer.answers.set(keysPath, (_request, response) => response.writeHead(500).end())
    const answers = [await ask(token), await ask(`${token}x`)]
    expect(logged.length).toBeGreaterThan(0)
    for (const part of token.split('.')) expect(JSON.stringify([logged, answers])).not.toContain(part)
  })
})
