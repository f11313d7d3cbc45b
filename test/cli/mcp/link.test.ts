import { expect, it, vi } from 'vitest'
import type { Connection } from '../../../src/cli/connect/connect.ts'
import { Link } from '../../../src/cli/mcp/link.ts'
import { ConfigError } from '../../../src/config/config-error.ts'
import { AppError } from '../../../src/core/error.ts'

/** Connections with numbers, without servers. */
function open({ fails = [] as unknown[], runs = [] as string[], idleMs = 5 } = {}) {
  const seen: string[] = []
  let count = 0
  const link = new Link({
    idleMs,
    async connect() {
      const failure = fails.shift()
      if (failure !== undefined) throw failure
      const number = ++count
      seen.push(`open ${number}`)
      const server = { underWay: () => ({ run_ids: runs, request_ids: [] }), filesToCome: () => undefined }
      const own = runs.length > 0 ? { server, config: {} } : undefined
      const close = async () => void seen.push(`close ${number}`)
      return { client: {}, own, close } as unknown as Connection
    },
    onConnected: async () => {},
  })
  return { link, seen, runs }
}

it('shares one connection among calls at once, and closes it when none is under way', async () => {
  const { link, seen } = open()
  const gate = Promise.withResolvers<void>()
  const calls = Array.from({ length: 5 }, () => link.with(() => gate.promise))
  await expect.poll(() => seen).toEqual(['open 1'])
  gate.resolve()
  await Promise.all(calls)
  await expect.poll(() => seen).toEqual(['open 1', 'close 1'])
  await link.with(async () => {})
  expect(seen).toEqual(['open 1', 'close 1', 'open 2'])
  await link.close()
})

it('stays open while a run is under way in this process', async () => {
  const { link, seen, runs } = open({ runs: ['run_1'] })
  vi.useFakeTimers()
  try {
    await link.with(async () => {})
    await vi.advanceTimersByTimeAsync(1_000)
    expect(seen).toEqual(['open 1'])
    runs.length = 0
    await vi.advanceTimersByTimeAsync(100)
    expect(seen).toEqual(['open 1', 'close 1'])
  } finally {
    vi.useRealTimers()
    await link.close()
  }
})

it('tries again after a failure, and tells what is wrong with a config', async () => {
  const { link, seen } = open({ fails: [new ConfigError('agent.config.ts:2: no'), new AppError('conflict', 'in use')] })
  await expect(link.with(async () => {})).rejects.toMatchObject({
    code: 'unavailable',
    message: 'agent.config.ts:2: no',
  })
  await expect(link.with(async () => {})).rejects.toThrow('in use')
  await link.with(async () => {})
  expect(seen).toEqual(['open 1'])
  await link.close()
})

it('looks for another server after one was lost, and not after a refusal', async () => {
  const { link, seen } = open({ idleMs: 60_000 })
  const refused = link.with(() => Promise.reject(new AppError('forbidden', 'no')))
  await expect(refused).rejects.toThrow('no')
  const lost = link.with(() => Promise.reject(new AppError('unavailable', 'It is gone.')))
  await expect(lost).rejects.toThrow('It is gone. The next call looks for a server again.')
  await link.with(async () => {})
  expect(seen).toEqual(['open 1', 'close 1', 'open 2'])
  await link.close()
  expect(seen.at(-1)).toBe('close 2')
  await expect(link.with(async () => {})).rejects.toThrow('closed')
})
