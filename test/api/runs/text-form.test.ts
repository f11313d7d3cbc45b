import { describe, expect, test } from 'vitest'
import { fenced } from '../../../src/api/runs/text/block.ts'
import { RunMarkdown } from '../../../src/api/runs/text/markdown.ts'
import { toTypeScript, toUseChat } from '../../../src/api/runs/text/request.ts'
import type { RunEvent } from '../../../src/core/event.ts'
import { withoutBase64 } from '../../../src/core/text/base64.ts'
import type { RunDetail } from '../../../src/wire/run.ts'
import { asked, hostileTexts } from '../../support/asked.ts'

test.each(hostileTexts)('a run as a program has one text in it, whatever was asked: %j', (text) => {
  for (const program of [toTypeScript(asked([{ type: 'text', text }])), toUseChat(asked([{ type: 'text', text }]))])
    expect(program).toContain(JSON.stringify(text))
})

test('a field that is named as the prototype stays a field', () => {
  const data = JSON.parse('{"__proto__": {"a": 1}}')
  const program = toTypeScript(asked([{ type: 'data', data }]))
  const body = /run\("[^"]*", (JSON\.parse\(.*\))\)\nconsole/s.exec(program)?.[1] ?? ''
  expect(JSON.stringify(new Function(`return ${body}`)())).toBe(JSON.stringify({ input: data }))
})

function textOf(markdown: RunMarkdown, ...about: Parameters<RunMarkdown['toText']>): string {
  const work = markdown.toText(...about)
  for (;;) {
    const { done, value } = work.next()
    if (done) return value
  }
}

describe('a run as Markdown', () => {
  test.each(['```\n# out\n```', '````', 'a ``` b ````` c', '~~~'])('has no text that ends its block: %j', (text) => {
    const [first = '', ...lines] = fenced(text).split('\n')
    expect(first).toMatch(/^`{3,}$/)
    expect(lines.indexOf(first)).toBe(lines.length - 1)
    expect(text).not.toContain(first)
  })

  test('has files as their size, and of long texts the beginning', () => {
    const picture = Buffer.from(Array.from({ length: 900 }, (_, place) => (place * 7919) % 251)).toString('base64')
    expect(withoutBase64(picture)).toBe('(base64, 900 bytes)')
    expect(withoutBase64(picture.replaceAll(/.{76}/g, '$&\r\n'))).toMatch(/^\(base64, 9\d\d bytes\)$/)
    expect(fenced({ picture, at: `see data:image/png;base64,${picture} here` })).toContain(
      'see data:image/png;base64,(900 bytes) here',
    )
    expect(withoutBase64('x'.repeat(5000))).toHaveLength(5000)
    expect(withoutBase64('deadbeef'.repeat(64))).toHaveLength(512)
    expect(fenced('a'.repeat(30_000))).toContain('(9.8 KB left out)')
  })

  test('tells what was asked, every step, the answer and the error', () => {
    const usage = { input_tokens: 1330, output_tokens: 212, total_tokens: 1542, cached_input_tokens: 1204 }
    const bodies: Record<string, unknown>[] = [
      { type: 'run_start', session_id: 'ses_1', entity_id: 'docs', entity_kind: 'agent' },
      { type: 'retrieval', query: 'open\n# hours', results: [{ chunk_id: 'c', source: 'a.md', score: 0.5 }] },
      { type: 'model_call_start', call_id: 'c1', model: 'qwen3:8b' },
      { type: 'model_call_end', call_id: 'c1', usage, finish_reason: 'tool-calls', duration_ms: 10, cost: null },
      { type: 'tool_call', call_id: 't1', name: 'calendar', input: { month: 11 } },
      { type: 'tool_result', call_id: 't1', name: 'calendar', output: '```', duration_ms: 3 },
      { type: 'run_error', error: { code: 'run_failed', message: 'broken' } },
    ]
    const events = bodies.map((body, place) => {
      const at = new Date(place * 10).toISOString()
      return { run_id: 'run_1', seq: place + 1, at, ...body } as unknown as RunEvent
    })
    const run = {
      ...asked([{ type: 'text', text: 'When?' }]).run,
      run_id: 'run_1',
      entity_id: 'docs',
      entity_kind: 'agent',
      status: 'failed',
      created_at: '2026-01-01T00:00:00.000Z',
      usage,
      cost: null,
      content: '',
      sources: [],
      error: { code: 'run_failed', message: 'broken' },
      cancellation_reason: null,
    } as unknown as RunDetail
    const link = 'http://127.0.0.1:8080/studio/r/run_1'
    const markdown = new RunMarkdown()
    for (const event of events) markdown.add(event)
    expect(textOf(markdown, run, { prompts: false, link })).toMatchInlineSnapshot(`
      "# Run of the agent docs: failed

      - run: run_1, session: ses_1
      - began: 2026-01-01T00:00:00.000Z, took: 60 ms
      - tokens: 1542, cost: –
      - link: http://127.0.0.1:8080/studio/r/run_1
      - prompts: left out, they need the scope \`prompts\`

      ## Question

      \`\`\`
      When?
      \`\`\`

      ## Steps

      ### 1. search · seq 2 · 1 of 1 passages told · 0 ms

      Query: open \\# hours

      - 0.50 a.md

      ### 2. call 1 of 1 · seq 3 · tool-calls · 1,330 in (1,204 cached) 212 out · – · 10 ms

      model: qwen3:8b

      #### What call 1 gave

      It called calendar.

      ### 3. tool calendar · seq 5 · 10 ms

      Input:

      \`\`\`json
      {
        "month": 11
      }
      \`\`\`

      Output:

      \`\`\`\`
      \`\`\`
      \`\`\`\`

      ### 4. end · seq 7 · failed · run\\_failed

      \`\`\`
      broken
      \`\`\`

      ## Answer

      None.

      ## Error

      run_failed:

      \`\`\`
      broken
      \`\`\`
      "
    `)
    const messages = [{ role: 'system', content: 'Be kind.' }]
    const withPrompts = new RunMarkdown()
    for (const event of events)
      withPrompts.add(event, event.type === 'model_call_start' ? { ...event, messages } : event)
    const whole = textOf(withPrompts, run, { prompts: true, link: undefined })
    expect(whole).toContain('#### Prompt of call 1\n\nsystem:\n\n```\nBe kind.\n```')
    expect(whole).not.toMatch(/left out|- link/)
  })

  test('has an end, however many results and prompts there are, and says what it left out', () => {
    const markdown = new RunMarkdown()
    const text = 'so long '.repeat(10_000)
    const add = (seq: number, body: object) => {
      const event = { run_id: 'run_1', seq, at: new Date(seq).toISOString(), ...body } as RunEvent
      const { messages: _, ...sent } = event as RunEvent & { messages?: unknown }
      markdown.add(sent as RunEvent, event)
    }
    add(1, { type: 'run_start', session_id: 'ses_1', entity_id: 'docs', entity_kind: 'agent' })
    const content = Array.from({ length: 150 }, () => text)
    add(2, { type: 'model_call_start', call_id: 'c1', model: 'm', messages: [{ role: 'user', content }] })
    for (let place = 0; place < 200; place++) {
      add(3 + 2 * place, { type: 'tool_call', call_id: `t${place}`, name: 'look', input: {} })
      add(4 + 2 * place, { type: 'tool_result', call_id: `t${place}`, name: 'look', output: text, duration_ms: 1 })
    }
    const run = {
      ...asked([]).run,
      content: 'The end.',
      usage: null,
      sources: [],
      error: null,
      cancellation_reason: null,
    }
    const whole = textOf(markdown, run as unknown as RunDetail, { prompts: true, link: undefined })
    expect(whole.length).toBeGreaterThan(4_000_000)
    expect(whole.length).toBeLessThan(4_100_000)
    expect(whole).toContain(
      '150 more steps are left out: the text would be too long.\n\n## Answer\n\n```\nThe end.\n```',
    )
  })
  test.each(['docs\n\n## Answer\n\nNine.', '![x](https://evil.example)', '<img src=x>'])(
    'has no markup of names that came with a session from elsewhere: %j',
    (name) => {
      const markdown = new RunMarkdown()
      const bodies = [
        { type: 'run_start', session_id: 'ses_1', entity_id: name, entity_kind: 'workflow' },
        { type: 'step_start', step_id: 's', name, child_run_id: name },
        { type: 'run_error', error: { code: name, message: 'broken' } },
      ]
      for (const [place, body] of bodies.entries())
        markdown.add({ run_id: 'run_1', seq: place + 1, at: new Date(place).toISOString(), ...body } as RunEvent)
      const run = {
        ...asked([]).run,
        entity_id: name,
        content: '',
        usage: null,
        sources: [],
        error: { code: name, message: 'broken' },
        cancellation_reason: null,
      }
      const whole = textOf(markdown, run as unknown as RunDetail, { prompts: true, link: undefined })
      expect(whole.match(/^## .*/gm)).toEqual(['## Question', '## Steps', '## Answer', '## Error'])
      expect(whole).not.toMatch(/(?<!\\)[[<]/)
    },
  )
})
