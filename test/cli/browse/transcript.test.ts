import { describe, expect, it } from 'vitest'
import { clip, Transcript } from '../../../src/cli/browse/transcript.ts'
import type { RunEvent, RunEventBody } from '../../../src/core/event.ts'

let seq = 0
const event = (body: RunEventBody, second = 0): RunEvent => ({
  ...body,
  run_id: 'run_1',
  seq: ++seq,
  at: `2026-01-01T00:00:0${second}.000Z`,
})

const runStart = event({ type: 'run_start', session_id: 's', entity_id: 'docs', entity_kind: 'agent' })
const runEnd = (second: number) =>
  event(
    {
      type: 'run_end',
      status: 'completed',
      cache_hit: false,
      usage: { input_tokens: 3, output_tokens: 4, total_tokens: 7 },
    },
    second,
  )

function read(events: RunEvent[], asked = 'hello'): Transcript {
  const transcript = new Transcript(asked, 'docs')
  for (const one of events) transcript.add(one)
  return transcript
}

function lines(transcript: Transcript): string[] {
  return Array.from({ length: transcript.length }, (_, place) => {
    const entry = transcript.entry(place)
    return `${entry?.kind}: ${entry?.text.trimEnd()}`
  })
}

describe('the transcript of a run', () => {
  it('has text, tools and steps in the order in which they happened, and how the run ended', () => {
    const transcript = read([
      runStart,
      event({ type: 'text_delta', text: 'Let me ' }),
      event({ type: 'text_delta', text: 'look.' }),
      event({ type: 'tool_call', call_id: 'c', name: 'look', input: { at: 'it' } }),
      event({ type: 'step_start', step_id: 's', name: 'draft' }),
      event({ type: 'tool_result', call_id: 'c', name: 'look', output: 1, duration_ms: 12 }),
      event({ type: 'step_end', step_id: 's', status: 'failed', error: { message: 'no paper' }, duration_ms: 3 }),
      event({ type: 'source', index: 1, source: 'a.md', document_id: 'd', chunk_id: 'k', line_start: 3 }),
      event({ type: 'text_delta', text: 'It is one.' }),
      runEnd(2),
    ])
    expect(lines(transcript)).toEqual([
      'user: hello',
      'name: docs',
      'markdown: Let me look.',
      'note: ✓ look {"at":"it"} 12 ms',
      'note: ✗ draft 3 ms: no paper',
      'markdown: It is one.',
      'note: [1] a.md:3',
      'note: 2026-01-01 00:00:00 · completed · 2.0 s · 3 tokens in, 4 out',
    ])
    expect(transcript).toMatchObject({ status: 'completed', seq })
  })

  it('shows what is at work, and the text that still grows', () => {
    const transcript = read([
      runStart,
      event({ type: 'tool_call', call_id: 'c', name: 'look', input: {} }),
      event({ type: 'text_delta', text: 'One para' }),
    ])
    expect(lines(transcript)).toEqual(['user: hello', 'name: docs', 'note: … look {}', 'markdown: One para'])
    transcript.add(event({ type: 'text_delta', text: 'graph.\n\nAnother\n' }))
    expect(lines(transcript).slice(3)).toEqual(['markdown: One paragraph.', 'markdown: Another'])
    expect(transcript.status).toBeUndefined()
  })

  it('says what a run waits for, and goes on when it has it', () => {
    const transcript = read([
      runStart,
      event({ type: 'input_required', call_id: 'c', prompt: 'Publish?', data: { title: 'News' } }),
      event({ type: 'run_end', status: 'input_required', cache_hit: false, usage: null }, 1),
    ])
    expect(lines(transcript).slice(2)).toEqual([
      'name: Publish?',
      'note: {"title":"News"}',
      'note: 2026-01-01 00:00:00 · is waiting for an answer · 1.0 s',
    ])
    expect(transcript.status).toBe('input_required')
    transcript.add(event({ type: 'run_resumed', from: 'input_required', approved: true }))
    expect(transcript.status).toBeUndefined()
  })

  it('shows why a run failed', () => {
    const error = { code: 'run_failed', message: 'The model\u001b[2J is gone.' }
    expect(lines(read([runStart, event({ type: 'run_error', error }, 1)], '')).slice(1)).toEqual([
      'error: The model is gone.',
      'note: 2026-01-01 00:00:00 · failed · 1.0 s',
    ])
  })

  it('lets no text control the terminal, one that is cut in two neither', () => {
    const transcript = read(
      [
        runStart,
        event({ type: 'text_delta', text: 'a\u001b]0;own' }),
        event({ type: 'text_delta', text: 'ed\u0007b\u202e\tc' }),
        event({ type: 'tool_call', call_id: 'c', name: 'x\u001b[2J', input: { y: '\u009b2J' } }),
      ],
      'q\u001b[2J',
    )
    expect(lines(transcript)).toEqual(['user: q', 'name: docs', 'markdown: ab    c', 'note: … x {"y":""}'])
  })

  it('keeps the first million characters and the first thousand notes, and counts the rest', () => {
    const transcript = read([runStart])
    for (let count = 0; count < 40; count++) transcript.add(event({ type: 'text_delta', text: 'z'.repeat(50_000) }))
    for (let count = 0; count < 1500; count++) {
      transcript.add(event({ type: 'tool_call', call_id: `c${count}`, name: 'look', input: {} }))
    }
    transcript.add(runEnd(1))
    const shown = lines(transcript)
    expect(shown.slice(-3)).toEqual([
      'note: 1000000 more characters are recorded but not shown.',
      'note: 500 more tools and steps are not shown.',
      'note: 2026-01-01 00:00:00 · completed · 1.0 s · 3 tokens in, 4 out',
    ])
    expect(shown.join('').length).toBeLessThan(1_050_000)
  })
})

describe('clip', () => {
  it('gives the start of a text', () => {
    expect(clip('abc', 3)).toBe('abc')
    expect(clip('abcd', 3)).toBe('abc')
  })
})
