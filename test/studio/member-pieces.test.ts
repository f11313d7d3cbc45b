import { expect, test } from 'vitest'
import { piecesOf } from '../../src/studio/again/member-pieces.ts'
import { RunEvents } from '../../src/studio/state/run/events.ts'
import type { RunEvent } from '../../src/wire/event.ts'

test('a conversation has its texts, tools with what they gave, and members in order', () => {
  const events = new RunEvents()
  const all = [
    { type: 'text_delta', text: 'Let ' },
    { type: 'text_delta', text: 'me see.' },
    { type: 'tool_call', call_id: 'a', name: 'look', input: { day: 1 } },
    { type: 'tool_call', call_id: 'b', name: 'fail', input: null },
    { type: 'tool_result', call_id: 'b', error: 'closed' },
    { type: 'tool_result', call_id: 'a', output: { open: true } },
    { type: 'step_start', step_id: 's', name: 'plain' },
    { type: 'step_start', step_id: 't', name: 'helper', child_run_id: 'run_1' },
    { type: 'data', data: { n: 1 } },
    { type: 'text_delta', text: 'Done.' },
  ]
  for (const [place, event] of all.entries()) events.add({ ...event, at: '', seq: place + 1 } as unknown as RunEvent)
  const title = 'What it said'
  expect(piecesOf(events)).toEqual([
    { seq: 1, title, parts: [{ type: 'text', text: 'Let me see.' }] },
    { seq: 3, title: 'look', input: { day: 1 }, output: { open: true } },
    { seq: 4, title: 'fail', input: null, output: 'closed' },
    { seq: 8, title: 'helper', runId: 'run_1' },
    {
      seq: 9,
      title,
      parts: [
        { type: 'data', data: { n: 1 } },
        { type: 'text', text: 'Done.' },
      ],
    },
  ])
})
