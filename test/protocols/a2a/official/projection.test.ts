import { describe, expect, test } from 'vitest'
import type { RunEvent } from '../../../../src/core/event.ts'
import { silentLogger } from '../../../../src/core/logger.ts'
import { followTask } from '../../../../src/protocols/a2a/official/follow.ts'
import { rpcWriter } from '../../../../src/protocols/a2a/official/rpc.ts'
import { TaskProjection } from '../../../../src/protocols/a2a/official/stream.ts'
import { toTask } from '../../../../src/protocols/a2a/official/task.ts'
import { toTask03 } from '../../../../src/protocols/a2a/official/version03.ts'
import { type Batch, toFrames } from '../../../../src/protocols/frames.ts'
import { longRun, type RecordedRun, recordedRuns } from '../../../support/protocols/recorded-runs.ts'
import { quickest } from '../../../support/quickest.ts'
import { foldedTask, results } from './folded-task.ts'

const fileUrl = () => 'unused'
const noFiles = { read: async () => undefined, most: 0 }

async function* inBatches(events: readonly RunEvent[], size: number): AsyncGenerator<Batch> {
  for (let start = 0; start < events.length; start += size) yield events.slice(start, start + size)
}

async function joined(frames: AsyncIterable<string>): Promise<string> {
  let text = ''
  for await (const frame of frames) text += frame
  return text
}

const projectionOf = ({ run }: RecordedRun, version: '1.0' | '0.3' = '1.0') =>
  new TaskProjection({ ...run, status: 'running' }, rpcWriter(version, 7), fileUrl)

/** The stream from the run's start. */
function streamed(recorded: RecordedRun, size: number, version?: '1.0' | '0.3'): Promise<string> {
  const options = { runId: recorded.run.run_id, logger: silentLogger }
  return joined(toFrames(projectionOf(recorded, version), inBatches(recorded.events, size), options))
}

/** The stream for one who comes when this many events are there. The rest comes once the first frame is made. */
async function subscribed(recorded: RecordedRun, count: number): Promise<string> {
  const { events, run } = recorded
  const opened = Promise.withResolvers<void>()
  const live = async function* (): AsyncGenerator<Batch> {
    yield* inBatches(events.slice(0, count), 3)
    await opened.promise
    yield* inBatches(events.slice(count), 3)
  }
  const options = { runId: run.run_id, logger: silentLogger, files: noFiles, isQueued: false }
  const frames = await followTask(projectionOf(recorded), live(), options)
  opened.resolve()
  return joined(frames)
}

const objectOf = ({ run }: RecordedRun) => toTask(run, { artifacts: true, contents: new Map(), fileUrl })

describe.each(recordedRuns)('a run that is $name', (recorded) => {
  test('gives the same bytes however its events come, in both versions', async () => {
    for (const version of ['1.0', '0.3'] as const) {
      const whole = await streamed(recorded, 1000, version)
      for (const size of [1, 2, 5]) expect(await streamed(recorded, size, version)).toBe(whole)
      expect(whole).not.toContain('secret')
    }
  })

  test('amounts to the task that is read later, whenever a subscriber comes', async () => {
    const task = JSON.parse(JSON.stringify(objectOf(recorded)))
    expect(foldedTask(await streamed(recorded, 4))).toEqual(task)
    const counts = recorded.events.map((_, place) => place + 1)
    const streams = await Promise.all(counts.map((count) => subscribed(recorded, count)))
    for (const stream of streams) expect(foldedTask(stream)).toEqual(task)
  })

  test('in 0.3 says the same, and is final once at its end', async () => {
    const frames = results(await streamed(recorded, 4, '0.3'))
    expect(frames[0]).toMatchObject({ kind: 'task', status: { state: 'working' } })
    const finals = frames.filter(({ kind, final }) => kind === 'status-update' && final)
    const { status } = toTask03(objectOf(recorded))
    expect(finals.at(-1)).toBe(frames.at(-1))
    expect(finals.at(-1).status).toEqual(status)
    const pauses = recorded.events.filter(({ type }) => type === 'run_resumed').length
    expect(finals).toHaveLength(pauses + 1)
    expect(JSON.stringify(frames)).not.toMatch(/TASK_STATE|ROLE_/)
  })
})

test('a stream that is cut ends with an error, never like a task that is over', async () => {
  const [recorded] = recordedRuns as [RecordedRun]
  const cut = { ...recorded, events: recorded.events.slice(0, 9) }
  const frames = (await streamed(cut, 4)).trim().split('\n\n')
  expect(JSON.parse(frames.at(-1)?.slice(6) ?? '')).toMatchObject({ id: 7, error: { code: -32603 } })
})

test.each(['1.0', '0.3'] as const)('ten thousand fragments take as long each as a thousand: %s', async (version) => {
  const timed = (recorded: RecordedRun) => quickest(async () => ({ stream: await streamed(recorded, 100, version) }))
  const { ms: few } = await timed(longRun(1_000))
  const large = longRun(10_000)
  const { ms: many, stream } = await timed(large)
  const task = version === '0.3' ? toTask03(objectOf(large)) : objectOf(large)
  expect(foldedTask(stream)).toEqual(JSON.parse(JSON.stringify(task)))
  // What grows with the square would take a hundred times as long.
  expect(many).toBeLessThan(50 * Math.max(few, 2))
})
