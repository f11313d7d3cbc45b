import { afterEach, expect, test } from 'vitest'
import { usualLimits } from '../../../src/config/settings/limits.ts'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { asTool } from '../../../src/runnables/tools/as-tool.ts'
import { workflow } from '../../../src/runnables/workflow/workflow.ts'
import type { RunBounds } from '../../../src/service/limits/run-budget.ts'
import { runnable } from '../../support/services.ts'
import { closeAsking, ofType, saidBy, serveAsking } from '../asking.ts'
import { answer, callTool, scripted } from '../fixture.ts'

afterEach(closeAsking)

const bounds = (run: Partial<RunBounds['run']>): RunBounds => {
  const usual = usualLimits()
  return { ...usual, run: { ...usual.run, ...run } }
}
const usage = { input_tokens: 30, output_tokens: 30, total_tokens: 60 }
const costly = runnable(async function* ({ text }) {
  yield text
  yield { type: 'model_call_end', call_id: 'c', usage, finish_reason: 'stop', duration_ms: 1 } as const
})

test('tokens of what was asked count towards the run, at every depth and over pauses', async () => {
  const careful = workflow({ run: async ({ ask, approve }) => (await ask('costly', `${await approve('go')}`)).text })
  const main = workflow({
    run: async ({ ask }) => `${(await ask('costly', 'a')).text}${(await ask('careful', 'b')).text}`,
  })
  for (const [tokens, status] of [
    [120, 'completed'],
    [119, 'failed'],
  ] as const) {
    const { run, resume, children, runs } = await serveAsking({ main, careful, costly }, { bounds: bounds({ tokens }) })
    const { run_id: runId } = await run()
    const record = await resume(runId, { approved: true, input: 'x' })
    expect(record.status).toBe(status)
    if (status === 'completed') expect(record.usage).toMatchObject({ total_tokens: 120 })
    else expect(record.error).toMatchObject({ code: 'run_limit', message: expect.stringContaining('120 tokens') })
    for (const { run_id } of await children(runId)) {
      await expect.poll(async () => (await runs.get(run_id)).status).toMatch(/^(completed|cancelled)$/)
    }
  }
})

test('the time of a run is over for what it asked too', async () => {
  const slow = agent({ run: () => new Promise<never>(() => {}) })
  const main = workflow({ run: async ({ ask }) => (await ask('slow', 'x')).text })
  const { run, children, runs } = await serveAsking({ main, slow }, { bounds: bounds({ timeMs: 20 }) })
  const record = await run()
  expect(record.error).toMatchObject({ code: 'run_limit', message: expect.stringContaining('run.time') })
  const [child] = await children(record.run_id)
  await expect.poll(async () => (await runs.get(child?.run_id ?? '')).status).toBe('cancelled')
})

const secret = 'hunter2unmistakable'
const guarded = agent({
  guardrails: { input: ({ text }) => (text.includes(secret) ? { refuse: 'Not that.' } : undefined) },
  run: ({ text }) => text,
})

test('a refused question gives the reason as its answer, and is in no record of the run that asked', async () => {
  const main = workflow({ run: async ({ ask }) => (await ask('guarded', `say ${secret}`)).text })
  const own = agent({ run: async ({ ask }) => (await ask('guarded', `say ${secret}`)).text })
  for (const entity of [main, own]) {
    const { run, children, eventsOf } = await serveAsking({ main: entity, guarded })
    const record = await run('plain words')
    expect(saidBy(record)).toBe('Not that.')
    const [child] = await children(record.run_id)
    const told = [record, child, await eventsOf(record.run_id), await eventsOf(child?.run_id ?? '')]
    expect(JSON.stringify(told)).not.toContain(secret)
  }
})

test('a question that repeats the input of the run refuses both', async () => {
  const main = workflow({ run: async ({ ask, text }) => (await ask('guarded', text)).text })
  const { run, children, runs, eventsOf } = await serveAsking({ main, guarded })
  const { run_id: runId } = await run(`say ${secret}`)
  const record = await runs.get(runId)
  expect(saidBy(record)).toBe('Not that.')
  const [child] = await children(runId)
  const told = [record, child, await eventsOf(runId), await eventsOf(child?.run_id ?? '')]
  expect(JSON.stringify(told)).not.toContain(secret)
})

test("a model's own words in a refused question stay in its tool call, as in a team", async () => {
  const model = scripted(callTool('guarded', { question: `say ${secret}` }), answer('Sorry.'))
  const main = agent({ model, tools: { guarded: asTool('guarded') } })
  const { run, children, eventsOf } = await serveAsking({ main, guarded })
  const record = await run('plain words')
  const events = await eventsOf(record.run_id)
  expect(ofType(events, 'tool_result')).toMatchObject([{ output: 'Not that.' }])
  expect(ofType(events, 'tool_call')).toMatchObject([{ input: { question: `say ${secret}` } }])
  const [child] = await children(record.run_id)
  expect(JSON.stringify([child, await eventsOf(child?.run_id ?? '')])).not.toContain(secret)
})
