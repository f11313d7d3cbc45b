import { expect, onTestFinished, test } from 'vitest'
import type { PageClient } from '../../src/client/page.ts'
import { OpenedRun } from '../../src/studio/state/opened-run.ts'
import type { RunEvent } from '../../src/wire/event.ts'
import type { Run } from '../../src/wire/run.ts'

const event = (run_id: string, seq: number, body: object) =>
  ({ run_id, seq, at: '2026-01-01T00:00:00.000Z', ...body }) as unknown as RunEvent
const begin = (run_id: string) =>
  event(run_id, 1, { type: 'run_start', session_id: 's', entity_id: run_id, entity_kind: 'agent' })
const inside = (run_id: string, seq: number, child_run_id: string) =>
  event(run_id, seq, { type: 'step_start', step_id: `of ${child_run_id}`, name: child_run_id, child_run_id })
const call = (run_id: string, seq: number) =>
  event(run_id, seq, { type: 'model_call_start', call_id: `${run_id}-${seq}`, model: 'm' })
const text = (run_id: string, seq: number) => event(run_id, seq, { type: 'text_delta', text: 'more' })
const cut = (run_id: string, seq: number) => event(run_id, seq, { type: 'run_end', status: 'interrupted', usage: null })

/** A server that has `recorded`, and answers a reading of events when the test says so. */
function fake(recorded: Record<string, RunEvent[]>) {
  const server = { status: 'running', recorded, reads: [] as { runId: string; answer: () => void }[], holds: false }
  const head = (run_id: string) => ({ run_id, status: server.status, parent_run_id: null }) as unknown as Run
  const runs = {
    get: async (runId: string) => head(runId),
    list: async () => ({ runs: [], next_cursor: null }),
    events: async (runId: string, { after }: { after: number }) => {
      const events = (server.recorded[runId] ?? []).filter(({ seq }) => seq > after)
      if (server.holds) await new Promise<void>((answer) => server.reads.push({ runId, answer }))
      return events
    },
  }
  const opened = new OpenedRun({ runs } as unknown as PageClient, 'top', () => {})
  onTestFinished(() => opened.close())
  return { opened, server, head }
}
const rowsOf = ({ tree }: OpenedRun) => tree.rows.value.map(({ step, note }) => step?.label ?? note)
const open = (opened: OpenedRun, runId: string, seq: number) => {
  const step = opened.tree.eventsOf(runId)?.steps.find((one) => one.seq === seq)
  if (step === undefined) throw new Error('There is no step.')
  opened.tree.turn(runId, step)
}

test('a run that ended while nothing came has what is recorded, with what was unfolded, at any depth', async () => {
  const { opened, server } = fake({})
  await expect.poll(() => opened.run.value).toBeDefined()
  const told = [begin('top'), inside('top', 2, 'mid'), begin('mid'), inside('mid', 2, 'low'), begin('low')]
  for (const one of [...told, call('low', 2), text('top', 3), text('top', 4)]) opened.received(one)
  open(opened, 'top', 2)
  open(opened, 'mid', 2)
  expect(rowsOf(opened)).toEqual(['top', 'mid', 'low', 'm'])
  const { events } = opened
  // The text, and the call, were not written when the server was killed.
  server.recorded = {
    top: [begin('top'), inside('top', 2, 'mid'), cut('top', 3)],
    mid: [begin('mid'), inside('mid', 2, 'low'), cut('mid', 3)],
    low: [begin('low'), cut('low', 2)],
  }
  server.status = 'interrupted'
  opened.readAgain()
  await expect.poll(() => rowsOf(opened)).toEqual(['top', 'mid', 'low', 'interrupted', 'interrupted', 'interrupted'])
  expect(opened.events).not.toBe(events)
  expect(opened.events.all).toEqual(server.recorded.top)
  expect(opened.tree.eventsOf('low')?.all).toEqual(server.recorded.low)
})

test('what was asked for before a run is read anew does not take its place', async () => {
  const { opened, server, head } = fake({ top: [begin('top'), cut('top', 2)] })
  await expect.poll(() => opened.run.value).toBeDefined()
  for (const one of [begin('top'), text('top', 2), text('top', 3)]) opened.received(one)
  server.status = 'interrupted'
  server.holds = true
  opened.runChanged(head('top'))
  opened.readAgain()
  await expect.poll(() => server.reads.length).toBe(2)
  const [late, anew] = server.reads
  anew?.answer()
  await expect.poll(() => opened.events.all).toEqual(server.recorded.top)
  late?.answer()
  await new Promise((resolve) => setImmediate(resolve))
  expect(opened.events.all).toEqual(server.recorded.top)
})

test('nothing is added to a run whose beginning is missing', async () => {
  const { opened } = fake({})
  await expect.poll(() => opened.run.value).toBeDefined()
  opened.received(text('top', 7))
  expect(opened.events.all).toEqual([])
})

test('of a run whose end has come by the live stream, nothing more is read', async () => {
  const done = event('top', 2, { type: 'run_end', status: 'completed', usage: null })
  const { opened, server, head } = fake({ top: [begin('top'), done] })
  await expect.poll(() => opened.run.value?.status).toBe('running')
  for (const one of [begin('top'), done]) opened.received(one)
  server.holds = true
  opened.runChanged({ ...head('top'), status: 'completed' })
  await Promise.resolve()
  expect([server.reads, opened.error.value]).toEqual([[], ''])
})
