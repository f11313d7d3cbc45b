import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ConfigError } from '../../../src/config/config-error.ts'
import type { Environment } from '../../../src/config/environment.ts'
import { resolveConfig } from '../../../src/config/resolve.ts'
import type { PostgresStorage } from '../../../src/config/settings/postgres.ts'
import type { UserConfig } from '../../../src/config/types.ts'
import { configParts } from '../../../src/server.ts'
import { certificate } from '../../support/postgres/tls-proxy.ts'

const folder = join(import.meta.dirname, '../../fixtures/tls')
const secret = 'k9-not-to-be-seen'
const url = `postgres://app:${secret}@db.example/agents`
const resolve = (server: unknown, environment: Environment = {}) =>
  resolveConfig({
    user: { server } as UserConfig,
    root: folder,
    purpose: 'program',
    environment,
    parts: configParts,
  }).server

const resolved = (storage: object, environment: Environment = {}) =>
  resolve({ storage: { type: 'postgres', ...storage } }, environment).sessionStorage as PostgresStorage

function complaintOf(server: unknown, environment: Environment = {}): string {
  try {
    resolve(server, environment)
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError)
    const { message } = error as ConfigError
    expect(message).not.toContain(secret)
    expect(message.split('\n')).toHaveLength(1)
    return message
  }
  return 'no complaint'
}

describe('storage on Postgres', () => {
  test('needs an address only; every other field has its default', () => {
    const usual = {
      type: 'postgres',
      url,
      tls: undefined,
      schema: 'agentserve',
      listenUrl: undefined,
      connections: 'direct',
      cluster: { deadAfterMs: 15_000, flushMs: 15 },
      place: 'db.example:5432/agents, schema agentserve',
      isExposed: true,
    }
    expect(resolved({ url })).toEqual(usual)
    expect(resolve({ sessionStorage: { type: 'postgres', url } }).sessionStorage).toEqual(usual)
  })

  test('has times of its own, up to their bounds', () => {
    const times = (cluster: object) => resolved({ url, cluster }).cluster
    expect(times({ deadAfter: '1m' })).toEqual({ deadAfterMs: 60_000, flushMs: 15 })
    expect(times({ deadAfter: 5_000, flushMs: 50 })).toEqual({ deadAfterMs: 5_000, flushMs: 50 })
    expect(times({ deadAfter: '5m', flushMs: 5 })).toEqual({ deadAfterMs: 300_000, flushMs: 5 })
  })

  test('has the knowledge too, also in a program of your own; sessionStorage leaves it local', () => {
    const storage = { type: 'postgres', url } as const
    const library = (server: UserConfig['server']) =>
      resolveConfig({ user: { server }, root: '/app', purpose: 'library', parts: configParts }).server.vectorDb
    for (const vectorDb of [resolve({ storage }).vectorDb, library({ storage })])
      expect(vectorDb).toMatchObject({ type: 'postgres', storage: { url, schema: 'agentserve' } })
    expect(resolve({ sessionStorage: storage }).vectorDb).toMatchObject({ type: 'lancedb' })
    expect(library({ sessionStorage: storage })).toBeUndefined()
  })

  test('knowledge alone has an address of its own, or that of the sessions', () => {
    const other = 'postgres://knowledge.example/base'
    expect(resolve({ vectorDb: { type: 'postgres', baseUrl: other, tenant: 'a' } })).toMatchObject({
      sessionStorage: { type: 'sqlite' },
      vectorDb: { tenant: 'a', storage: { url: other } },
    })
    const sessionStorage = { type: 'postgres', url, schema: 'ours' } as const
    expect(resolve({ sessionStorage, vectorDb: { type: 'postgres', collectionName: 'c' } }).vectorDb).toMatchObject({
      collectionName: 'c',
      storage: { url, schema: 'ours' },
    })
    expect(() => resolve({ vectorDb: { type: 'postgres' } })).toThrow(/vectorDb.baseUrl is missing/)
    expect(() => resolve({ vectorDb: { type: 'postgres', baseUrl: 'http://x' } })).toThrow(/vectorDb.baseUrl must be/)
    expect(() => resolve({ storage: { type: 'postgres', url }, vectorDb: { type: 'lancedb' } })).toThrow(
      /leave one of them out/,
    )
  })

  test('takes its address from the environment, which wins over the file, for storage on Postgres only', () => {
    const environment = { AGENTSERVE_DATABASE_URL: 'postgres://other.example/x' }
    expect(resolved({}, environment).url).toBe('postgres://other.example/x')
    expect(resolved({ url }, environment).url).toBe('postgres://other.example/x')
    expect(resolve({}, environment).sessionStorage).toMatchObject({ type: 'sqlite' })
  })

  test.each([
    [url, true],
    [`${url}?sslmode=prefer`, true],
    [`${url}?sslmode=disable`, false],
    [`${url}?sslmode=require`, false],
    ['postgres://app@127.0.0.1/agents', false],
    ['postgres://app@localhost:6000/agents', false],
    ['postgres://app@[::1]/agents', false],
    ['postgres://app@%2Fvar%2Frun%2Fpostgresql/agents', false],
  ])('is exposed when nobody has decided about TLS to another machine: %#', (address, isExposed) => {
    expect(resolved({ url: address })).toMatchObject({ isExposed })
    expect(resolved({ url: address.replace('?sslmode=require', ''), tls: false }).isExposed).toBe(false)
  })

  test('verifies certificates as `sslmode` or `tls` says, and hands on an address without either', () => {
    const verified = { tls: { rejectUnauthorized: true }, url }
    for (const mode of ['require', 'verify-ca', 'verify-full'])
      expect(resolved({ url: `${url}?sslmode=${mode}` })).toMatchObject(verified)
    expect(resolved({ url, tls: true })).toMatchObject(verified)
    expect(resolved({ url: `${url}?sslmode=require&channel_binding=require`, tls: true })).toMatchObject(verified)
    expect(resolved({ url: `${url}?sslmode=disable` })).toMatchObject({ tls: undefined, url })
    expect(resolved({ url: `${url}?sslmode=no-verify`, tls: { insecure: true } })).toMatchObject({
      tls: { rejectUnauthorized: false },
      url,
    })
    expect(resolved({ url: `${url}?application_name=desk&sslmode=require` }).url).toBe(`${url}?application_name=desk`)
  })

  test('reads PEM files beside the config, and has PEM texts as they are', () => {
    const ca = certificate
    const tls = { ca, cert: 'certificate.pem', key: join(folder, 'key.pem'), servername: 'db' }
    const key = expect.stringContaining('PRIVATE KEY')
    const read = { ca, cert: certificate, key, servername: 'db', rejectUnauthorized: true }
    expect(resolved({ url, tls }).tls).toEqual(read)
  })

  test.each<[object, string]>([
    [{}, 'storage.url is missing: set it, or AGENTSERVE_DATABASE_URL for the commands.'],
    [
      { url: 'mysql://root@host/db' },
      "storage.url must be an address like 'postgres://user:password@host:5432/database'.",
    ],
    [{ url: 5 }, "storage.url must be an address like 'postgres://user:password@host:5432/database'."],
    [{ url: `postgres://app:12/${secret}@host/db` }, 'with special characters of the password percent-encoded.'],
    [{ url: `postgres://app:12?${secret}@host/db` }, 'with special characters of the password percent-encoded.'],
    [{ url: `postgres://app:%${secret}@host/db` }, 'with a percent sign of the password written as %25.'],
    [{ url: 'postgres://a,b/db' }, 'storage.url names several hosts: name one, such as a proxy in front of them.'],
    [{ url: 'postgres://a/db/x' }, 'storage.url has a database with a slash: write / in a name as %2F.'],
    [{ url: `postgres://a/db?password=${secret}` }, "storage.url has the parameter 'password': write it before the @."],
    [{ url: `postgres://a/db?sslkey=${secret}` }, 'set `tls: { cert, key }` instead.'],
    [{ url: `postgres://a/db?${secret}` }, 'those that are: application_name, sslmode.'],
    [{ url: `postgres://a/db?sslmode=${secret}` }, 'storage.url has an sslmode that is not one of disable, allow'],
    [{ url, listenUrl: `http://${secret}` }, "storage.listenUrl must be an address like 'postgres://"],
    [{ url, schema: 'Agents' }, "not 'Agents'."],
    [{ url, schema: 'pg_agents' }, "without 'pg_' at its beginning, not 'pg_agents'."],
    [{ url, connections: 'pool' }, "storage.connections must be 'direct' or 'pooled', not 'pool'."],
    [{ url, cluster: true }, 'storage.cluster must be an object with deadAfter, flushMs, not true.'],
    [{ url, cluster: { deadAfter: '4s' } }, "cluster.deadAfter must be a time from '5s' to '5m', not '4s'."],
    [{ url, cluster: { deadAfter: 300_001 } }, "cluster.deadAfter must be a time from '5s' to '5m', not 300001."],
    [{ url, cluster: { deadAfter: '-15s' } }, "must be a time from '5s' to '5m', not '-15s'."],
    [{ url, cluster: { deadAfter: Number.NaN } }, "cluster.deadAfter must be a time from '5s' to '5m', not NaN."],
    [{ url, cluster: { flushMs: 4 } }, 'cluster.flushMs must be a whole number from 5 to 50, not 4.'],
    [{ url, cluster: { flushMs: 15.5 } }, 'cluster.flushMs must be a whole number from 5 to 50, not 15.5.'],
    [{ url, cluster: { flushMs: '15' } }, "cluster.flushMs must be a whole number from 5 to 50, not '15'."],
    [{ url, cluster: { flush: 15 } }, "storage.cluster.flush is not a setting; did you mean 'flushMs'?"],
    [{ url, shema: 'a' }, "storage.shema is not a setting; did you mean 'schema'?"],
    [{ url, ssl: true }, 'storage.ssl is not a setting; '],
    [{ url, tls: 'on' }, 'storage.tls must be true, false, or an object with ca, cert, key, servername, insecure'],
    [{ url, tls: { cert: 'a' } }, 'storage.tls.key is missing: a certificate and its key belong together.'],
    [{ url, tls: { key: secret, insecure: 'no' } }, "storage.tls.insecure must be true or false, not 'no'."],
    [
      { url, tls: { ca: 'none.pem' } },
      `neither a PEM text nor a file that can be read: '${folder}/none.pem' (ENOENT).`,
    ],
    [{ url, tls: { ca: '../tls' } }, `a file that can be read: '${folder}' (EISDIR).`],
    [
      { url, tls: { cert: certificate, key: secret } },
      'tls.key is neither a PEM text nor a file that can be read (ENOENT).',
    ],
    [{ url, tls: { cert: certificate, key: certificate } }, "storage.tls can't be used: "],
    [{ url, tls: { insecure: true, ca: 'a' } }, 'storage.tls.ca has no effect with `insecure: true`'],
    [{ url: `${url}?sslmode=disable`, tls: true }, 'tls contradicts sslmode in `url`, which turns TLS off'],
    [{ url: `${url}?sslmode=require`, tls: false }, 'tls contradicts sslmode in `url`, which asks for TLS'],
    [{ url: `${url}?sslmode=verify-full`, tls: { insecure: true } }, 'which asks for a verified certificate'],
    [{ url: `${url}?sslmode=no-verify` }, 'storage.tls must be { insecure: true } if any certificate is right'],
    [{ url, tls: true, listenUrl: `${url}?sslmode=disable` }, 'contradicts sslmode in `listenUrl`'],
  ])('is refused in one line that has no secret: %#', (storage, complaint) => {
    expect(complaintOf({ storage: { type: 'postgres', ...storage } })).toContain(complaint)
    expect(complaintOf({ sessionStorage: { type: 'postgres', ...storage } })).toContain(
      complaint.replace('storage.', 'sessionStorage.'),
    )
  })

  test.each<[unknown, Environment, string]>([
    [{ storage: 'postgres' }, {}, 'server.storage must be an object with type, url, tls'],
    [
      { storage: { type: 'sqlite' } },
      {},
      "server.storage.type must be 'postgres' (server.sessionStorage has the others)",
    ],
    [{ storage: { type: 'postgres', url }, sessionStorage: 'memory' }, {}, 'server.storage says where sessions are'],
    [
      { storage: { type: 'postgres' } },
      { AGENTSERVE_DATABASE_URL: secret },
      'AGENTSERVE_DATABASE_URL must be an address',
    ],
    [
      { storage: { type: 'postgres', tls: true } },
      { AGENTSERVE_DATABASE_URL: `${url}?sslmode=disable` },
      'server.storage.tls contradicts sslmode in `url`',
    ],
  ])('is refused beside others: %#', (server, environment, complaint) => {
    expect(complaintOf(server, environment)).toContain(complaint)
  })
})
