import { createHash } from 'node:crypto'
import fc from 'fast-check'

/*
 * Headers that say who calls, from where, and with what right: true, nearly true, or nothing like it.
 */

/** Keys of a server that asks for one; an operator's, and one of a single user. */
export interface Keys {
  operator: string
  user: string
}

export type Right = keyof Keys | 'none'

export interface HostileCaller {
  right: Right
  headers: Record<string, string>
}

/** As a challenge looks that gets a proof. */
export const soundChallenge = /^[A-Za-z0-9_-]{43}$/

const forwarded = [
  '',
  ',',
  ',,,,',
  'unknown',
  '_hidden',
  '127.0.0.1',
  '127.0.0.1, 127.0.0.1',
  '203.0.113.9',
  '203.0.113.9:99999',
  '999.1.1.1',
  '0x7f.1',
  '::1',
  '::',
  '[::1]:80',
  '[::1',
  '[]',
  'fe80::1%eth0',
  'fe80::1%',
  '::ffff:127.0.0.1',
  '::ffff:0:203.0.113.9',
  '::203.0.113.9',
  '64:ff9b::203.0.113.9',
  '1:2:3:4:5:6:7::',
  '::2:3:4:5:6:7:8',
  '1:2:3:4:5:6:7:8',
  '1:2:3:4:5:6:203.0.113.9',
  '"[2001:db8::1]:4711"',
  'for=203.0.113.9;proto=https',
  '../../etc/passwd',
  '__proto__',
  '127.0.0.1,'.repeat(1_000),
]
const anyAddress = fc.oneof(fc.ipV4(), fc.ipV6(), fc.constantFrom(...forwarded))
const printable = fc.string({ unit: fc.constantFrom(...'abcXYZ019-_=+/ ,;:."\té'), maxLength: 60 })
const challenge = fc.oneof(
  fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes).toString('base64url')),
  fc.uint8Array({ maxLength: 64 }).map((bytes) => Buffer.from(bytes).toString('base64')),
  fc.constantFrom('', 'x'.repeat(5_000), `${'A'.repeat(43)} 127.0.0.1:1`, `${'A'.repeat(43)}, ${'A'.repeat(43)}`),
  printable,
)

const places = fc
  .record(
    { 'X-Forwarded-For': anyAddress, 'X-Agentserve-Challenge': challenge, Forwarded: fc.constantFrom(...forwarded) },
    { requiredKeys: [] },
  )
  .map((headers) => headers as Record<string, string>)

/** Without `keys`, of a server where everybody may do everything. */
export function hostileCallers(keys: Keys | undefined): fc.Arbitrary<HostileCaller> {
  if (keys === undefined) {
    return fc.tuple(wrongKeys('operator', 'none'), places).map(([{ headers }, more]) => ({
      right: 'operator',
      headers: { ...headers, ...more },
    }))
  }
  const { operator, user } = keys
  return fc
    .tuple(
      fc.oneof(
        { weight: 6, arbitrary: rightKeys('operator', operator) },
        { weight: 3, arbitrary: rightKeys('user', user) },
        { weight: 2, arbitrary: wrongKeys(operator, user) },
      ),
      places,
    )
    .map(([{ right, headers }, more]) => ({ right, headers: { ...headers, ...more } }))
}

function rightKeys(right: Right, key: string): fc.Arbitrary<HostileCaller> {
  return fc
    .constantFrom<Record<string, string>>(
      { Authorization: `Bearer ${key}` },
      { Authorization: `bearer   ${key}  ` },
      { 'X-API-Key': key },
      { 'X-API-Key': key, Authorization: 'Basic b3BlcmF0b3I6' },
      { 'X-API-Key': key, Authorization: 'Bearer wrong' },
    )
    .map((headers) => ({ right, headers }))
}

function wrongKeys(operator: string, user: string): fc.Arbitrary<HostileCaller> {
  const hash = `sha256:${createHash('sha256').update(operator).digest('hex')}`
  const wrong = [
    '',
    ' ',
    operator.slice(1),
    operator.slice(0, -1),
    operator.toUpperCase(),
    `${operator}\u00a0`,
    `${operator},${operator}`,
    `${operator}, ${user}`,
    `"${operator}"`,
    hash,
    'null',
    '__proto__',
    "' OR '1'='1",
    'x'.repeat(8_000),
  ]
  const text = fc.oneof(fc.constantFrom(...wrong), printable)
  const authorization = fc.oneof(
    text.map((key) => `Bearer ${key}`),
    text,
    fc.constantFrom('Bearer', `Bearer ${operator} ${operator}`, `Bearer: ${operator}`, `Basic ${btoa(`${operator}:`)}`),
    fc.constantFrom(`Bearer=${operator}`, `Token ${operator}`, 'Digest username="x"', 'Bearer '.repeat(500)),
  )
  return fc
    .record({ Authorization: authorization, 'X-API-Key': text }, { requiredKeys: [] })
    .map((headers) => ({ right: 'none', headers: headers as Record<string, string> }))
}
