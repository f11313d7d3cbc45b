import { beforeEach, describe, expect, test, vi } from 'vitest'
import { toWireEvent } from '../../../src/core/events/sent-event.ts'
import { silentLogger } from '../../../src/core/logger.ts'
import { MessageFold } from '../../../src/protocols/ag-ui/messages.ts'
import { AgUiRun } from '../../../src/protocols/ag-ui/run.ts'
import { agUiStream } from '../../../src/protocols/ag-ui/stream.ts'
import { toFrames } from '../../../src/protocols/frames.ts'
import { eventParser, openAgent, type Version, versions } from '../../judges/ag-ui.ts'
import { type RecordedRun, recordedRuns } from '../../support/protocols/recorded-runs.ts'

/* Each stretch of each recorded run, as each version of the client reads it. */

const named = { threadId: 'ses_recorded', runId: 'r1' }
const fileAddress = () => '/files/1'

async function streamOf({ events, run }: RecordedRun, from: number, version: Version): Promise<string> {
  async function* batch() {
    yield events
  }
  const options = { named, from, isModern: version === '1.0.0', fileAddress }
  const { projection, events: shown } = agUiStream(options, batch())
  let stream = ''
  for await (const frame of toFrames(projection, shown, { runId: run.run_id, logger: silentLogger })) stream += frame
  return stream
}

const beginnings = ({ events }: RecordedRun) => [
  1,
  ...events.filter((event) => event.type === 'run_resumed').map(({ seq }) => seq),
]

function snapshotOf({ events }: RecordedRun) {
  const projection = new AgUiRun({ named, from: 1, isModern: true, fileAddress, isHistory: true })
  const fold = new MessageFold()
  for (const event of events) for (const one of projection.add(toWireEvent(event, false))) fold.add(one)
  return fold.messages
}

beforeEach(() => {
  for (const method of ['warn', 'error'] as const) {
    const said = vi.spyOn(console, method)
    return () => {
      expect(said.mock.calls).toEqual([])
      said.mockRestore()
    }
  }
  return undefined
})

describe.each(versions)('the client %s', (version) => {
  test.each(recordedRuns)('reads a run that is $name as a thread has it later', async (recorded) => {
    const parse = await eventParser()
    let stream = ''
    const agent = await openAgent(version, { url: 'http://127.0.0.1', fetch: async () => new Response(stream) })
    for (const from of beginnings(recorded)) {
      stream = await streamOf(recorded, from, version)
      for (const frame of stream.split('\n\n').filter(Boolean)) parse(JSON.parse(frame.replace(/^data: /, '')))
      const resume = agent.pendingInterrupts.map(({ id }) => ({
        interruptId: id,
        status: 'resolved' as const,
        payload: {},
      }))
      await agent.runAgent({ runId: 'r1', ...(resume.length > 0 && { resume }) })
      // A comment between all frames changes nothing, and neither does another order of bytes.
      expect(agent.events[0]).toMatchObject({ type: 'RUN_STARTED', ...named })
      expect(agent.end?.type).toMatch(/^RUN_(?:FINISHED|ERROR)$/)
    }
    expect(agent.messages).toEqual(snapshotOf(recorded))
    const { status } = recorded.run
    const isError = status === 'failed' || status === 'interrupted' || (status === 'cancelled' && version !== '1.0.0')
    expect(agent.end?.type).toBe(isError ? 'RUN_ERROR' : 'RUN_FINISHED')
  })
})
