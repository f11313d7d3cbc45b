import type { UIMessage } from 'ai'
import { describe, expect, test } from 'vitest'
import { toWireEvent } from '../../../src/core/events/sent-event.ts'
import { silentLogger } from '../../../src/core/logger.ts'
import { MessageFold } from '../../../src/protocols/chat/message.ts'
import { ChatRun } from '../../../src/protocols/chat/run.ts'
import { chatProjection } from '../../../src/protocols/chat/stream.ts'
import { toFrames } from '../../../src/protocols/frames.ts'
import { openChat, outlineOf, versions } from '../../judges/chat.ts'
import { type RecordedRun, recordedRuns } from '../../support/protocols/recorded-runs.ts'

/* Each recorded run, as each version of the client reads it. */

async function streamOf({ events, run }: RecordedRun, ui5: boolean): Promise<string> {
  const projection = chatProjection({ fileAddress: () => '/files/1', ui5 })
  let stream = ''
  async function* batch() {
    yield events
  }
  const frames = toFrames(projection, batch(), { runId: run.run_id, logger: silentLogger })
  for await (const frame of frames) stream += frame
  return stream
}

function reloaded({ events }: RecordedRun, ui5: boolean): UIMessage {
  const projection = new ChatRun({ fileAddress: () => '/files/1', ui5 })
  const fold = new MessageFold()
  for (const event of events) for (const chunk of projection.add(toWireEvent(event, false))) fold.add(chunk)
  return fold.message() as unknown as UIMessage
}

describe.each(versions)('useChat of ai %i', (version) => {
  test.each(recordedRuns)('reads a run that is $name as the reload has it', async (recorded) => {
    const ui5 = version === 5
    const stream = await streamOf(recorded, ui5)
    const fetch = (async () => new Response(stream)) as unknown as typeof globalThis.fetch
    const chat = await openChat(version, { api: 'http://127.0.0.1/chat', transport: { fetch } })
    await chat.sendMessage({ text: 'Hello' })
    const { status } = recorded.run
    expect(chat.status).toBe(status === 'failed' || status === 'interrupted' ? 'error' : 'ready')
    expect(chat.error?.message ?? '').not.toMatch(/validation|No tool invocation|missing/i)
    expect(outlineOf(chat.lastMessage)).toEqual(outlineOf(reloaded(recorded, ui5)))
  })
})
