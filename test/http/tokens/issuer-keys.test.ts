import { generateKeyPair } from 'jose'
import { describe, expect, test } from 'vitest'
import { configurationPath, keysPath, sendJson, type TestIssuer } from '../../support/issuer.ts'
import { minute, opened, seconds } from './opened.ts'

describe('the keys of the issuer', () => {
  test('are asked for once, by however many requests', async () => {
    const { issuer, ask } = await opened()
    const token = await issuer.sign()
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(token)))
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200))
    expect([...issuer.asked]).toEqual([
      [configurationPath, 1],
      [keysPath, 1],
    ])
  })

  test('are read again for an unknown one, but not more often than every 30 s', async () => {
    const { issuer, ask, pass } = await opened()
    const before = await issuer.sign()
    expect((await ask(before)).status).toBe(200)
    await issuer.rotate()
    const after = await issuer.sign()
    expect((await ask(after)).status).toBe(401)
    pass(30_000)
    expect((await ask(after)).status).toBe(200)
    // The old key is published no more.
    expect((await ask(before)).status).toBe(401)
    const { privateKey } = await generateKeyPair('ES256')
    for (let time = 0; time < 30; time++) {
      const forged = await issuer.sign({}, { key: privateKey, kid: `none-${time}` })
      expect([401, 429]).toContain((await ask(forged)).status)
      pass(1_000)
    }
    expect(issuer.asked.get(keysPath)).toBeLessThanOrEqual(3)
  })

  test('that are old are read again beside the requests', async () => {
    const { issuer, ask, pass } = await opened()
    const token = await issuer.sign()
    expect((await ask(token)).status).toBe(200)
    await issuer.rotate(0)
    pass(10 * minute)
    expect((await ask(token)).status).toBe(200)
    await expect.poll(() => issuer.asked.get(keysPath)).toBe(2)
    await expect.poll(async () => (await ask(token)).status).toBe(401)
  })

  test('stay in use while the issuer is down, for a day', async () => {
    const { issuer, ask, pass, logged } = await opened()
    const token = await issuer.sign({ exp: seconds + 3 * 86_400 })
    expect((await ask(token)).status).toBe(200)
    await issuer.stop()
    pass(23 * 60 * minute)
    expect((await ask(token)).status).toBe(200)
    await expect.poll(() => logged.join()).toContain('tokens are checked with the earlier ones')
    const { privateKey } = await generateKeyPair('ES256')
    // Nobody can say whether it is a new key.
    expect((await ask(await issuer.sign({}, { key: privateKey, kid: 'new' }))).status).toBe(503)
    pass(61 * minute)
    expect((await ask(token)).status).toBe(503)
    await issuer.start()
    pass(minute)
    expect((await ask(token)).status).toBe(200)
    expect(logged.at(-1)).toContain('can be read again')
  })

  test('that were never read are 503 with a time to wait, and keys work meanwhile', async () => {
    const { issuer, ask, pass, state, logged } = await opened()
    await issuer.stop()
    const token = await issuer.sign()
    const { status, body, retryAfter } = await ask(token)
    expect([status, body.error.code, Number(retryAfter) >= 1]).toEqual([503, 'unavailable', true])
    // The server may have no keys, or this caller none.
    expect(body.error.message).toBe(
      "The issuer of tokens can't be reached, so the token can't be checked. Retry later, or send an API key if you have one.",
    )
    expect((await ask('a-key-beside-it')).status).toBe(200)
    expect(state()).toBe('failed')
    for (let time = 0; time < 5; time++) expect((await ask(token)).status).toBe(503)
    expect(logged.filter((line) => line.includes('tokens are refused'))).toHaveLength(1)
    await issuer.start()
    pass(5_000)
    expect([(await ask(token)).status, state()]).toEqual([200, 'ok'])
  })

  test('are waited for at most 5 s', { timeout: 20_000 }, async () => {
    const { issuer, ask, pass } = await opened()
    issuer.answers.set(keysPath, (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).write('{"keys": [')
    })
    const token = await issuer.sign()
    const from = performance.now()
    expect((await ask(token)).status).toBe(503)
    const tookMs = performance.now() - from
    expect([tookMs > 4_000, tookMs < 10_000]).toEqual([true, true])
    issuer.answers.clear()
    pass(minute)
    expect((await ask(token)).status).toBe(200)
  })

  test.each<[string, string, (issuer: TestIssuer) => [status: number, type: string, body: string]]>([
    ['are too many', keysPath, () => [200, 'application/json', `{"keys": [${'{"kty":"EC"},'.repeat(50_000)}{}]}`]],
    ['have another type', keysPath, () => [200, 'text/html', '{"keys": []}']],
    ['are none', keysPath, () => [200, 'application/json', '{"keys": []}']],
    ['are no list', keysPath, () => [200, 'application/json', '{"keys": {}}']],
    ['are no keys', keysPath, () => [200, 'application/json', '{"keys": [null, 1]}']],
    ['are broken JSON', keysPath, () => [200, 'application/json', '{"keys": [']],
    ['are an error', keysPath, () => [500, 'application/json', '{}']],
    ['have a page that is gone', configurationPath, () => [404, 'application/json', '{}']],
    ['have a page of another type', configurationPath, () => [200, 'text/plain', '{}']],
    ['have a page that is a list', configurationPath, () => [200, 'application/json', '[]']],
    [
      'have a page of another issuer',
      configurationPath,
      ({ url }) => [200, 'application/json', JSON.stringify({ issuer: `${url}/`, jwks_uri: url + keysPath })],
    ],
    ['have no address', configurationPath, ({ url }) => [200, 'application/json', JSON.stringify({ issuer: url })]],
    [
      'have the address of a file',
      configurationPath,
      ({ url }) => [200, 'application/json', JSON.stringify({ issuer: url, jwks_uri: 'file:///etc/hosts' })],
    ],
    [
      'have an address without encryption',
      configurationPath,
      ({ url }) => [200, 'application/json', JSON.stringify({ issuer: url, jwks_uri: 'http://10.0.0.1/keys' })],
    ],
  ])('are not taken when they %s', async (_name, path, answer) => {
    const { issuer, ask, logged } = await opened()
    issuer.answers.set(path, (_request, response) => {
      const [status, type, body] = answer(issuer)
      response.writeHead(status, { 'content-type': type }).end(body)
    })
    expect((await ask(await issuer.sign())).status).toBe(503)
    expect(logged).toHaveLength(1)
  })

  test('are not looked for at another address by a redirect', async () => {
    const { issuer, ask, logged } = await opened()
    issuer.answers.set(keysPath, (_request, response) => response.writeHead(302, { location: '/elsewhere' }).end())
    expect((await ask(await issuer.sign())).status).toBe(503)
    expect([logged.join().includes('answered 302'), issuer.asked.has('/elsewhere')]).toEqual([true, false])
  })

  test('that are unsound do not hide the sound ones', async () => {
    const { issuer, ask } = await opened()
    const { keys } = (await (await fetch(issuer.url + keysPath)).json()) as { keys: object[] }
    const broken = { kty: 'EC', crv: 'P-256', x: 'AA', y: 'AA', kid: 'broken', alg: 'ES256', use: 'sig' }
    issuer.answers.set(keysPath, (_request, response) => sendJson(response, { keys: [broken, ...keys] }))
    expect((await ask(await issuer.sign())).status).toBe(200)
    expect((await ask(await issuer.sign({}, { kid: 'broken' }))).status).toBe(401)
  })
})
