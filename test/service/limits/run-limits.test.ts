import { afterEach, describe, expect, it } from 'vitest'
import { usualLimits } from '../../../src/config/settings/limits.ts'
import type { Emission, Runnable } from '../../../src/core/runnable.ts'
import { team } from '../../../src/runnables/team/team.ts'
import { workflow } from '../../../src/runnables/workflow/workflow.ts'
import type { RunBounds } from '../../../src/service/limits/run-budget.ts'
import { memoryStore } from '../../../src/store/sessions/memory/store.ts'
import { echo, openServices, request, runnable } from '../../support/services.ts'
import { turns } from '../../support/turns.ts'

const open: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of open.splice(0)) await close()
})

type Given = { [KEY in keyof RunBounds]?: RunBounds[KEY] extends object ? Partial<RunBounds[KEY]> : RunBounds[KEY] }

async function serve(main: Runnable, given: Given, store = memoryStore()) {
  const { run, toolResult, fileBytes, metadataBytes, stateBytes, ...usual } = usualLimits()
  const bounds: RunBounds = {
    ...usual,
    run: { ...run, ...given.run },
    toolResult: { ...toolResult, ...given.toolResult },
    fileBytes: given.fileBytes ?? fileBytes,
    metadataBytes: given.metadataBytes ?? metadataBytes,
    stateBytes: given.stateBytes ?? stateBytes,
  }
  const services = await openServices({ main, echo }, store, 30_000, bounds)
  open.push(() => services.runs.shutdown(0))
  const run_ = async (more = {}) => (await services.runs.start(request('main', 'go', more))).result()
  return { ...services, run: run_ }
}

const emitting = (...emissions: unknown[]): Runnable =>
  runnable(async function* () {
    for (;;) for (const emission of emissions) yield emission as Emission
  })

const usage = { input_tokens: 6, output_tokens: 4, total_tokens: 10 }
const call = { type: 'model_call_end', call_id: 'c', usage, finish_reason: 'stop', duration_ms: 1 }

describe('a run over a limit', () => {
  const endless: [string, Given, Runnable, string][] = [
    ['text', { run: { outputBytes: 64 * 1024 } }, emitting('four'), 'run.output` of 64 KB'],
    [
      'text of more bytes than characters',
      { run: { outputBytes: 300 } },
      emitting('€'.repeat(100), '€'),
      'run.output` of 300 bytes',
    ],
    ['texts without anything in them', { run: { outputBytes: 1024 } }, emitting(''), 'run.output` of 1 KB'],
    [
      'reasoning',
      { run: { outputBytes: 1024 } },
      emitting({ type: 'reasoning_delta', text: 'hm' }),
      'run.output` of 1 KB',
    ],
    ['data', { run: { outputBytes: 1024 } }, emitting({ type: 'data', data: { a: 1 } }), 'run.output` of 1 KB'],
    ['events', { run: { events: 50 } }, emitting('x', { ...call, usage: null }), 'run.events` of 50'],
    ['tokens', { run: { tokens: 25 } }, emitting(call), 'run.tokens` of 25'],
    [
      'a result of a tool',
      { toolResult: { recordBytes: 2048 } },
      emitting({ type: 'tool_result', call_id: 'c', name: 'read', output: 'x'.repeat(3000), duration_ms: 1 }),
      'toolResult.record` of 2 KB',
    ],
  ]
  it.each(endless)(
    'that emits %s without end fails with the limit, its value and its key',
    async (_, given, main, said) => {
      const { run } = await serve(main, given)
      const ended = await run()
      expect(ended).toMatchObject({ status: 'failed', error: { code: 'run_limit' } })
      expect(ended.error?.message).toContain(said)
      expect(ended.error?.message).toContain(`\`server.limits.${said.slice(0, said.indexOf('`'))}\``)
    },
  )

  it('keeps what it gave until then, and its session goes on', async () => {
    const { run, runs, store } = await serve(emitting('abcd'), { run: { outputBytes: 10 } })
    const { messages, session_id } = await run()
    expect(messages.at(-1)?.content).toBe('abcdabcd')
    const next = await runs.start(request('echo', 'hi', { sessionId: session_id }))
    expect((await next.result()).status).toBe('completed')
    expect((await store.findSession(session_id))?.session.run_count).toBe(2)
  })

  it('has exactly what it may have', async () => {
    const { run } = await serve(
      runnable(async function* () {
        yield 'abcd'
        yield '12'
      }),
      { run: { outputBytes: 6 } },
    )
    expect(await run()).toMatchObject({ status: 'completed' })
  })

  it('fails when it has worked for its time in the background, waiting not counted', async () => {
    const main = runnable(async function* (_input, { signal }) {
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
    })
    const { runs } = await serve(main, { run: { timeMs: 60 } })
    const first = await runs.start(request('main', 'one', { mode: 'background', sessionId: 's' }))
    const second = await runs.start(request('main', 'two', { mode: 'background', sessionId: 's' }))
    for (const run of [await first.result(), await second.result()]) {
      expect(run).toMatchObject({ status: 'failed', error: { code: 'run_limit' } })
      expect(run.error?.message).toContain('`run.time` of 60 ms')
      expect(Date.parse(run.completed_at ?? '') - Date.parse(run.started_at ?? '')).toBeGreaterThanOrEqual(50)
    }
  })

  it('counts the tokens of the runs inside it, and ends them with itself', async () => {
    const member = emitting(call)
    const main = team({ members: [member] })
    const { run, runs } = await serve(main, { run: { tokens: 55 } })
    const ended = await run()
    expect(ended.error).toMatchObject({ code: 'run_limit', message: expect.stringContaining('`run.tokens` of 55') })
    await runs.idle()
    const [child] = (await runs.list({ parent_run_id: ended.run_id }, { limit: 10 })).items
    expect(child).toMatchObject({ status: 'cancelled', cancellation_reason: 'parent_ended' })
  })

  it('fails when it leaves more state than a session may have, and what was there stays', async () => {
    const main = workflow({
      run: ({ state, text }) => {
        Object.assign(state, { kept: text === 'large' ? 'x'.repeat(3000) : text })
      },
    })
    const { runs, store } = await serve(main, { stateBytes: 1024 })
    const start = async (text: string) => (await runs.start(request('main', text, { sessionId: 's' }))).result()
    await start('small')
    const ended = await start('large')
    expect(ended.error).toMatchObject({ code: 'run_limit', message: expect.stringContaining('`state` of 1 KB') })
    expect((await store.findSession('s'))?.session.state).toEqual({ kept: 'small' })
  })

  it('waits for the store when what is emitted is a few megabytes ahead of the record', async () => {
    const store = memoryStore()
    let emitted = 0
    let recorded = 0
    let furthest = 0
    const slow = {
      ...store,
      appendEvents: async (batch: Parameters<typeof store.appendEvents>[0]) => {
        await turns(5)
        const kept = await store.appendEvents(batch)
        for (const event of batch.events) recorded += event.type === 'data' ? String(event.data).length : 0
        return kept
      },
    }
    const main = runnable(async function* () {
      for (let count = 0; count < 300; count++) {
        emitted += 50_000
        furthest = Math.max(furthest, emitted - recorded)
        yield { type: 'data', data: 'x'.repeat(50_000) }
      }
    })
    const { run } = await serve(main, {}, slow)
    expect((await run()).status).toBe('completed')
    expect(furthest).toBeLessThan(4 * 1024 * 1024)
  })
})
