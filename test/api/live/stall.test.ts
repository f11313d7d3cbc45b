import { expect, test } from 'vitest'
import { toLiveFrames } from '../../../src/api/live/frames.ts'
import { sse } from '../../../src/http/reply.ts'
import { createCosts } from '../../../src/models/prices/costs.ts'
import type { LiveBatch } from '../../../src/service/live/items.ts'
import type { LiveReader } from '../../../src/service/live/reader.ts'
import { get, listening, openSocket } from '../../http/support.ts'
import { anyone, follow, openLive } from '../../service/live/open.ts'
import type { KernelOptions } from '../../support/kernel.ts'
import { request } from '../../support/services.ts'

// More than the buffers of both sockets hold, and less than a run may say.
const large = 'x'.repeat(15 * 1024 * 1024)

/** A reader that follows a run with one large event and whose socket takes nothing. Resolves once that event is written. */
async function openStalled(options: KernelOptions = {}) {
  const opened = await openLive()
  const { live, runs } = opened
  const { runId } = await runs.start(request('echo', large, { sessionId: 'large' }))
  const reader = await live.open({ ...anyone, follow: follow([[runId, 0]]) })
  const left = Promise.withResolvers<void>()
  const written = Promise.withResolvers<void>()
  const hello = { type: 'hello', server_id: 'srv_one', version: '0', mode: 'embedded', can: {} } as never
  const route = get('/live', () =>
    sse(
      toLiveFrames(watched(reader, written.resolve, left.resolve), {
        ...{ serverId: 'srv_one', hello, knowledge: undefined, prompts: false, costs: createCosts({}) },
      }),
    ),
  )
  const { port } = await listening([route], options)
  const socket = openSocket(port)
  socket.on('error', () => {})
  socket.pause()
  socket.write('GET /live HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n')
  await written.promise
  return { ...opened, reader, socket, left: left.promise }
}

/** The reader's batches; `written` is called when the large event is about to fill the socket. */
function watched(reader: LiveReader, written: () => void, left: () => void): AsyncIterable<LiveBatch> {
  return {
    [Symbol.asyncIterator]: () => ({
      async next() {
        const { done, value } = await reader.next()
        if (done) return { done, value }
        if (value.items.some((item) => item.type === 'run_event' && item.event.type === 'text_delta')) written()
        return { done: false, value }
      },
      async return() {
        left()
        return reader.return()
      },
    }),
  }
}

test('a socket that takes nothing keeps 1,000 names, and its reader is told to begin again', async () => {
  const { live, sessions, pass, reader, socket } = await openStalled()
  for (let count = 0; count < 1_500; count++) {
    await sessions.create({ session_id: `s${count}` })
    if (count % 100 === 0) pass(2_000)
    expect(reader.pending).toBeLessThanOrEqual(1_000)
  }
  pass(2_000)
  expect([reader.pending, reader.isDue]).toEqual([0, true])
  let text = ''
  for await (const chunk of socket.setEncoding('latin1')) {
    text = (text + chunk).slice(-10_000)
    if (text.includes('event: reset')) break
  }
  expect(text).toContain('"reason":"behind"')
  expect(text).not.toContain('event: session\n')
  live.close()
})

test('a socket that takes nothing for the stall time is cut, and its stream may be opened again', async () => {
  const warned: string[] = []
  const logger = { debug() {}, info() {}, error() {}, warn: (_: object, message = '') => void warned.push(message) }
  const { live, sessions, pass, reader, left } = await openStalled({ stallTimeoutMs: 20, logger })
  await left
  expect(warned).toEqual(['closed a stream because its reader stalled'])
  await sessions.create({ session_id: 'later' })
  pass(2_000)
  expect([reader.pending, (await reader.next()).done]).toEqual([0, true])
  const open = await Promise.all([1, 2, 3, 4, 5].map(() => live.open(anyone)))
  expect(open).toHaveLength(5)
  live.close()
})
