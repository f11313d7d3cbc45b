import { effect } from '@preact/signals'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { PageClient } from '../../src/client/page.ts'
import { OpenedRun } from '../../src/studio/state/opened-run.ts'
import type { RunEvent } from '../../src/wire/event.ts'

const at = (ms: number) => new Date(Date.parse('2026-01-01T00:00:00.000Z') + ms).toISOString()
const event = (run_id: string, seq: number, body: object) =>
  ({ run_id, seq, at: at(seq), ...body }) as unknown as RunEvent
const begin = (run_id: string) =>
  event(run_id, 1, { type: 'run_start', session_id: 's', entity_id: run_id, entity_kind: 'agent' })
const usage = { input_tokens: 10, output_tokens: 2, total_tokens: 12 }
const cost = { usd: 1, as_of: '2026-09-23' }

/** What is read of a run that works: nothing but its head. */
const running = { run_id: 'top', status: 'running', parent_run_id: null }
const runs = { get: async () => running, list: async () => ({ runs: [], next_cursor: null }) }

async function open(): Promise<OpenedRun> {
  const opened = new OpenedRun({ runs } as unknown as PageClient, 'top', () => {})
  onTestFinished(() => opened.close())
  await expect.poll(() => opened.run.value).toBeDefined()
  return opened
}
const shown = ({ tree }: OpenedRun) =>
  tree.rows.value.map(({ runId, step, note, depth, offsetMs }) => [runId, step?.label ?? note, depth, offsetMs])

describe('the rows of a run and the runs inside it', () => {
  test('are made again for what changes steps, and not for text', async () => {
    const opened = await open()
    let made = 0
    const stop = effect(() => {
      opened.tree.rows.value
      made++
    })
    onTestFinished(stop)
    opened.received(begin('top'))
    opened.received(event('top', 2, { type: 'model_call_start', call_id: 'c', model: 'm' }))
    opened.received(event('top', 3, { type: 'text_delta', text: 'first' }))
    const before = made
    for (let seq = 4; seq < 504; seq++) opened.received(event('top', seq, { type: 'text_delta', text: 'more' }))
    expect(made).toBe(before)
    expect(opened.events.all).toHaveLength(503)
    opened.received(event('top', 504, { type: 'tool_call', call_id: 't', name: 'x', input: {} }))
    expect(made).toBe(before + 1)
  })

  test('have the events of a member that came before its step was known, on the same clock', async () => {
    const opened = await open()
    opened.received(begin('top'))
    opened.received({ ...begin('left'), at: at(40) })
    opened.received(event('left', 2, { type: 'model_call_start', call_id: 'c', model: 'm' }))
    opened.received(event('top', 5, { type: 'step_start', step_id: 's', name: 'the left one', child_run_id: 'left' }))
    expect(shown(opened)).toEqual([
      ['top', 'top', 0, 0],
      ['top', 'the left one', 1, 0],
    ])
    const step = opened.events.steps[1]
    if (step === undefined) throw new Error('There is no step.')
    opened.tree.turn('top', step)
    expect(shown(opened).at(-1)).toEqual(['left', 'm', 2, 39])
  })

  test('have nothing of a run whose beginning is missing', async () => {
    const opened = await open()
    opened.received(begin('top'))
    opened.received(event('late', 7, { type: 'model_call_start', call_id: 'c', model: 'm' }))
    expect(opened.tree.eventsOf('late')?.all).toEqual([])
  })

  test('are not made again for what happens in other sessions', async () => {
    const { tree } = await open()
    const before = tree.shape.value
    tree.runChanged({ run_id: 'far', parent_run_id: 'away', cost } as Parameters<typeof tree.runChanged>[0])
    expect(tree.shape.value).toBe(before)
    expect(tree.eventsOf('far')).toBeUndefined()
  })

  test('sum what is inside, and know no cost while a part is not known', async () => {
    const opened = await open()
    const { tree } = opened
    opened.received(begin('top'))
    opened.received(event('top', 2, { type: 'step_start', step_id: 'o', name: 'out' }))
    for (const [place, id] of ['left', 'right'].entries()) {
      const start = { type: 'step_start', step_id: id, name: id, parent_id: 'o', child_run_id: id }
      opened.received(event('top', 3 + 2 * place, start))
      const end = { type: 'step_end', step_id: id, status: 'completed', usage, duration_ms: 1 }
      opened.received(event('top', 4 + 2 * place, end))
    }
    const [, out] = opened.events.steps
    if (out === undefined) throw new Error('There is no step.')
    expect(tree.usageOf(out)).toEqual({ input_tokens: 20, output_tokens: 4, total_tokens: 24 })
    const head = (run_id: string) => ({ run_id, parent_run_id: 'top', cost }) as Parameters<typeof tree.runChanged>[0]
    tree.runChanged(head('left'))
    expect(tree.costOf(out)).toBeNull()
    tree.runChanged(head('right'))
    expect(tree.costOf(out)).toEqual({ ...cost, usd: 2 })
  })
})
