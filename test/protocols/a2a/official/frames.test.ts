import { AgentCard, StreamResponse } from '@a2a-js/sdk'
import { JsonRpcTransportFactory } from '@a2a-js/sdk/client'
import { LegacyJsonRpcTransport } from '@a2a-js/sdk/compat/v0_3/client'
import { describe, expect, test } from 'vitest'
import { silentLogger } from '../../../../src/core/logger.ts'
import { rpcWriter } from '../../../../src/protocols/a2a/official/rpc.ts'
import { TaskProjection } from '../../../../src/protocols/a2a/official/stream.ts'
import { toFrames } from '../../../../src/protocols/frames.ts'
import { collect } from '../../../support/collect.ts'
import { said } from '../../../support/official-clients.ts'
import { type RecordedRun, recordedRuns } from '../../../support/protocols/recorded-runs.ts'
import { results } from './folded-task.ts'

/* Each frame of each recorded run, as the SDK's own definitions of the protocol read it. */

async function streamOf({ run, events }: RecordedRun, version: '1.0' | '0.3', id: number): Promise<string> {
  const projection = new TaskProjection({ ...run, status: 'running' }, rpcWriter(version, id), () => 'https://files/1')
  async function* batches() {
    yield events
  }
  let text = ''
  for await (const frames of toFrames(projection, batches(), { runId: run.run_id, logger: silentLogger }))
    text += frames
  return text
}

/** The events that the SDK's client makes of the stream. */
async function readBy(version: '1.0' | '0.3', recorded: RecordedRun): Promise<unknown[]> {
  const url = 'http://127.0.0.1/agent'
  const fetchImpl: typeof fetch = async (_, init) => {
    const { id } = JSON.parse(String(init?.body)) as { id: number }
    const headers = { 'content-type': 'text/event-stream' }
    return new Response(await streamOf(recorded, version, id), { headers })
  }
  const transport =
    version === '0.3'
      ? new LegacyJsonRpcTransport({ endpoint: url, fetchImpl })
      : await new JsonRpcTransportFactory({ fetchImpl }).create(url, AgentCard.fromJSON({}))
  const events = await collect(transport.sendMessageStream(said('Hello')))
  return events.map((event) => StreamResponse.toJSON(event))
}

/** ProtoJSON leaves out what is false. */
const withoutFalse = (value: unknown) =>
  JSON.parse(JSON.stringify(value, (_, inner) => (inner === false ? undefined : inner)))

describe.each(recordedRuns)('a run that is $name', (recorded) => {
  test('has only fields that the definitions of 1.0 have, with values that they allow', async () => {
    const frames = results(await streamOf(recorded, '1.0', 7))
    const read = frames.map((frame) => StreamResponse.toJSON(StreamResponse.fromJSON(frame)))
    expect(read.map(withoutFalse)).toEqual(frames.map(withoutFalse))
    expect(JSON.stringify(read)).not.toContain('UNRECOGNIZED')
    expect((await readBy('1.0', recorded)).map(withoutFalse)).toEqual(frames.map(withoutFalse))
  })

  test('says to a client of 0.3 what it says to one of 1.0', async () => {
    expect((await readBy('0.3', recorded)).map(withoutFalse)).toEqual((await readBy('1.0', recorded)).map(withoutFalse))
  })
})
