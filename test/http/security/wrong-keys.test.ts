import { expect, onTestFinished, test, vi } from 'vitest'
import { type Logger, silentLogger } from '../../../src/core/logger.ts'
import { createWrongKeys } from '../../../src/http/security/wrong-keys.ts'
import { get, listening } from '../support.ts'

async function server(trustProxy: string[] = []) {
  let now = 0
  const lines: object[] = []
  const logger: Logger = { ...silentLogger, warn: (fields) => void lines.push(fields as object) }
  const { port, kernel } = await listening([get('/x'), { ...get('/open'), scope: 'open' }], {
    authKeys: [{ key: 'right' }],
    clock: () => now,
    logger,
    trustProxy,
  })
  const ask = (path: string, key: string | undefined, from?: string) =>
    fetch(`http://127.0.0.1:${port}${path}`, {
      headers: {
        ...(key === undefined ? {} : { 'x-api-key': key }),
        ...(from === undefined ? {} : { 'x-forwarded-for': from }),
      },
    })
  const status = async (...asked: Parameters<typeof ask>) => {
    const answer = await ask(...asked)
    await answer.arrayBuffer()
    return answer.status
  }
  const wrong = async (times: number, from?: string) => {
    const all: number[] = []
    for (let time = 0; time < times; time++) all.push(await status('/x', `wrong ${time}`, from))
    return all
  }
  const pass = (ms: number) => {
    now += ms
  }
  return { kernel, lines, ask, status, wrong, pass }
}

test('an address with 20 wrong keys in a minute is refused, unless its key is right', async () => {
  const { ask, status, wrong, pass } = await server()
  expect(await wrong(20)).toEqual(Array(20).fill(401))
  const refused = await ask('/x', 'wrong')
  expect([refused.status, Number(refused.headers.get('retry-after'))]).toEqual([429, 60])
  expect(await refused.json()).toMatchObject({ error: { code: 'rate_limited' } })
  expect([await status('/x', undefined), await status('/nowhere', 'wrong')]).toEqual([429, 429])
  expect([await status('/x', 'right'), await status('/open', undefined)]).toEqual([200, 200])
  pass(59_999)
  expect(await status('/x', 'wrong')).toBe(429)
  pass(1)
  expect(await status('/x', 'wrong')).toBe(401)
})

test('wrong keys over more than a minute, and requests without one, are refused as ever', async () => {
  const { status, wrong, pass } = await server()
  await wrong(19)
  for (let time = 0; time < 30; time++) expect(await status('/x', undefined)).toBe(401)
  pass(60_000)
  expect(await wrong(19)).toEqual(Array(19).fill(401))
})

test('another address behind a trusted proxy is not refused', async () => {
  const { status, wrong } = await server(['127.0.0.1'])
  await wrong(20, '192.0.2.1')
  expect(await status('/x', 'wrong', '192.0.2.1')).toBe(429)
  expect(await status('/x', 'wrong', '192.0.2.2')).toBe(401)
  await wrong(20, '2001:db8::1')
  expect(await status('/x', 'wrong', '2001:db8::ffff')).toBe(429)
  expect(await status('/x', 'wrong', '2001:db8:0:1::1')).toBe(401)
})

test('an address can not name another one where no proxy is trusted', async () => {
  const { status, wrong } = await server()
  for (let time = 0; time < 20; time++) await status('/x', 'wrong', `192.0.2.${time}`)
  expect(await wrong(1, '192.0.2.99')).toEqual([429])
})

test('what was not logged yet is logged when the server closes', async () => {
  const { kernel, lines, wrong } = await server()
  await wrong(25)
  await kernel.close({ deadlineMs: 0 })
  expect(lines).toEqual([{ wrong_keys: 25, addresses: 1 }])
})

test('the log has one line a minute, with the count', () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const counts: unknown[] = []
  const logger: Logger = { ...silentLogger, warn: (fields) => void counts.push(fields) }
  const wrongKeys = createWrongKeys({ clock: Date.now, logger })
  for (let time = 0; time < 300; time++) {
    try {
      wrongKeys.refuse(`192.0.2.${time % 3}`, true)
    } catch {}
    vi.advanceTimersByTime(500)
  }
  wrongKeys.close()
  expect(counts).toEqual([
    { wrong_keys: 120, addresses: 3 },
    { wrong_keys: 120, addresses: 3 },
    { wrong_keys: 60, addresses: 3 },
  ])
})

test('addresses without end are not all remembered', () => {
  const wrongKeys = createWrongKeys({ clock: () => 0, logger: silentLogger })
  onTestFinished(() => wrongKeys.close())
  const refused = (address: string) => {
    try {
      wrongKeys.refuse(address, false)
      return false
    } catch {
      return true
    }
  }
  for (let time = 0; time < 20; time++) wrongKeys.refuse('192.0.2.1', true)
  expect(refused('192.0.2.1')).toBe(true)
  for (let address = 0; address < 10_000; address++) wrongKeys.refuse(`10.0.${address >> 8}.${address & 255}`, true)
  expect(refused('192.0.2.1')).toBe(false)
})
