import { expect, test } from 'vitest'
import { silentLogger } from '../../../src/core/logger.ts'
import { dialectProjection } from '../../../src/protocols/a2a/stream.ts'
import { toFrames } from '../../../src/protocols/frames.ts'
import { collect, gate, openServices, request } from '../../support/services.ts'

test('lets a reader of a silent run go at once, and the run go on', async () => {
  const { runnable: slow, begun, open } = gate()
  const { runs } = await openServices({ slow })
  const handle = await runs.start(request('slow', 'x', { mode: 'stream', onDisconnect: 'continue' }))
  await begun(0)
  const events = handle.events()[Symbol.asyncIterator]()
  const first = await events.next()
  const options = { runId: handle.runId, logger: silentLogger, first: first.done ? [] : first.value }
  const stream = toFrames(dialectProjection(false), events, options)
  const frames = stream[Symbol.asyncIterator]()
  const shown: string[] = []
  const reading = (async () => {
    for (let next = await frames.next(); !next.done; next = await frames.next()) shown.push(next.value)
  })()
  await new Promise((resolve) => setImmediate(resolve))
  await frames.return?.()
  await reading
  expect(shown.join('')).not.toContain('done')
  open(0)
  expect(await handle.result()).toMatchObject({ status: 'completed' })
  expect((await collect(handle.events())).at(-1)).toMatchObject({ type: 'run_end' })
})
