import { expect, it } from 'vitest'
import type { ConfigError } from '../../../src/config/config-error.ts'
import { resolveConfig } from '../../../src/config/resolve.ts'
import type { UserConfig } from '../../../src/config/types.ts'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { configParts } from '../../../src/server.ts'

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const echo = agent({ async *run() {} })

function resolve(user: UserConfig) {
  return resolveConfig({
    user: { agents: { echo }, ...user },
    file: undefined,
    root: '/app',
    purpose: 'program',
    parts: configParts,
  })
}
function complaints(user: UserConfig): string[] {
  try {
    resolve(user)
    return []
  } catch (error) {
    return (error as ConfigError).message.split('\n')
  }
}
const schedule = { cron: '0 3 * * *', agent: 'echo', input: 'hi' }
const webhook = { url: 'https://hooks.test/a', secret }

it('resolves schedules with their defaults', () => {
  expect(
    resolve({ schedules: { nightly: { ...schedule, catchUp: '1h', timeZone: 'Europe/Berlin' } } }).schedules,
  ).toEqual([
    {
      ...schedule,
      name: 'nightly',
      timeZone: 'Europe/Berlin',
      catchUpMs: 3_600_000,
      overlap: 'skip',
      enabled: true,
      session: undefined,
      user: undefined,
      metadata: undefined,
    },
  ])
})

it('says what is wrong with schedules, and the cure', () => {
  const of = (more: object) => complaints({ schedules: { nightly: { ...schedule, ...more } } }).join('\n')
  expect(of({ cron: '61 * * * *' })).toBe(
    "config: schedules.nightly.cron is '61 * * * *', which can't be read: Invalid value for minute: 61. Write minute, hour, day of month, month and day of week, like '0 3 * * *' (every day at 3).",
  )
  expect(of({ cron: '0 0 30 2 *' })).toContain('never comes: there is no such date')
  expect(of({ cron: undefined })).toContain('schedules.nightly.cron is missing')
  expect(of({ agent: 'ecko' })).toBe(
    "config: schedules.nightly.agent names 'ecko', which is not an agent, team or workflow of this config; did you mean 'echo'.",
  )
  expect(of({ timeZone: 'Europe/Berln' })).toContain("not 'Europe/Berln'; did you mean 'Europe/Berlin'?")
  expect(of({ input: '' })).toContain('schedules.nightly.input must be a text or an object of data')
  expect(of({ overlap: 'never' })).toContain("overlap must be one of 'skip', 'allow', 'interrupt'")
  expect(of({ catchUp: '90d' })).toContain('catchUp must be a time from 0 to 30 days')
  expect(of({ timezone: 'UTC' })).toContain("did you mean 'timeZone'?")
  expect(complaints({ schedules: { 'a b': schedule } }).join()).toContain('schedules.a b is not a name')
})

it('resolves webhooks, and never shows their secrets', () => {
  expect(resolve({ webhooks: { ops: webhook } }).webhooks).toMatchObject([
    { name: 'ops', keys: [Buffer.alloc(32, 7)], contents: false, timeoutMs: 10_000, events: undefined },
  ])
  expect(resolve({ webhooks: { ops: { ...webhook, secret: [secret, secret] } } }).webhooks[0]?.keys).toHaveLength(2)
  const of = (more: object) => complaints({ webhooks: { ops: { ...webhook, ...more } } }).join('\n')
  expect(of({ secret: 'hunter2-hunter2' })).toContain("webhooks.ops.secret must be 'whsec_' and base64")
  expect(of({ secret: 'hunter2-hunter2' })).not.toContain('hunter2')
  expect(of({ secret: undefined })).toContain('is a variable not set?')
  expect(of({ url: 'http://hooks.test/s3cret' })).toBe(
    'config: webhooks.ops.url is not encrypted: use https, or set allowHttp.',
  )
  expect(of({ url: 'https://u:s3cret@hooks.test/' })).toBe(
    'config: webhooks.ops.url must have no user and no password.',
  )
  for (const host of ['127.0.0.1', '10.0.0.1', '[::1]', '169.254.169.254', '2130706433', '[::ffff:10.0.0.1]']) {
    expect([host, of({ url: `https://${host}/s3cret` })]).toEqual([
      host,
      'config: webhooks.ops.url is not an address on the public internet: change it, or set allowPrivate.',
    ])
  }
  expect(of({ events: ['run.done'] })).toContain("webhooks.ops.events.0 must be one of 'run.completed'")
  expect(of({ agents: ['ecko'] })).toContain("webhooks.ops.agents names 'ecko'")
})
