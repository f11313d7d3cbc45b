import { expect, onTestFinished, test } from 'vitest'
import type { RunGiven } from '../../../src/core/run.ts'
import type { Runnable } from '../../../src/core/runnable.ts'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { cachedStore } from '../../../src/store/cached/cached-store.ts'
import { memoryStore } from '../../../src/store/sessions/memory/store.ts'
import { answer, scripted } from '../../runnables/fixture.ts'
import { openServices, request, runnable } from '../../support/services.ts'

const secret = 'hunter2unmistakable'
const historyWith = (text: string): RunGiven => ({ history: [{ role: 'user', parts: [{ type: 'text', text }] }] })

async function open(entities: Record<string, Runnable>) {
  const services = await openServices(entities, cachedStore(memoryStore()))
  onTestFinished(() => services.store.close())
  const ask = async (text: string, given?: RunGiven) =>
    (await services.runs.start(request('it', text, { given }))).result()
  return { ...services, ask }
}

const wholeOf = ({ store }: Awaited<ReturnType<typeof open>>, sessionId: string) =>
  store.readRecords(sessionId, undefined, 10).then((records) => JSON.stringify(records))

test('input guardrails see history and instructions, and what they refuse is in no record', async () => {
  const model = scripted(answer('fine'))
  const input = async ({
    history,
    instructions,
  }: {
    history(): Promise<readonly object[]>
    instructions?: string | undefined
  }) => (JSON.stringify([await history(), instructions]).includes(secret) ? { refuse: 'Not that.' } : undefined)
  const services = await open({ it: agent({ model, guardrails: { input } }) })
  for (const given of [historyWith(secret), { instructions: `Say ${secret}.` }]) {
    const run = await services.ask('hello', given)
    expect(run).toMatchObject({ given: null, messages: [{ content: '{"refused":true}' }, { content: 'Not that.' }] })
    expect(await services.store.findRun(run.run_id)).toEqual(run)
    expect(await wholeOf(services, run.session_id)).not.toContain(secret)
  }
  expect(model.doStreamCalls).toEqual([])
  const passed = await services.ask('hello', { ...historyWith('plain'), instructions: 'Be kind.' })
  expect(passed).toMatchObject({
    given: { instructions: 'Be kind.' },
    messages: [{ content: 'hello' }, { content: 'fine' }],
  })
})

test('hooks see history and instructions', async () => {
  const seen: unknown[] = []
  const hooks = {
    run: async (
      call: { history(): Promise<readonly { content: string }[]>; instructions?: string | undefined },
      next: () => Promise<unknown>,
    ) => {
      seen.push([(await call.history()).map(({ content }) => content), call.instructions])
      await next()
    },
  }
  const services = await open({ it: agent({ model: scripted(answer('fine')), hooks }) })
  await services.ask('hello', { ...historyWith('Bern'), instructions: 'Be kind.' })
  expect(seen).toEqual([[['Bern'], 'Be kind.']])
})

test('they are hidden until the guardrails have passed them', async () => {
  const begun = Promise.withResolvers<void>()
  const passes = Promise.withResolvers<void>()
  const input = async () => {
    begun.resolve()
    await passes.promise
  }
  const services = await open({ it: agent({ model: scripted(answer('fine')), guardrails: { input } }) })
  const handle = await services.runs.start(request('it', 'hello', { given: { instructions: secret } }))
  await begun.promise
  expect(await wholeOf(services, handle.sessionId)).not.toContain(secret)
  passes.resolve()
  const run = await handle.result()
  expect((await services.store.findRun(run.run_id))?.given).toEqual({ instructions: secret })
})

test('a cached answer is for one history, one set of instructions, tools and schema', async () => {
  let calls = 0
  const takes = ['client_tools', 'instructions', 'output_schema'] as const
  const it = runnable(
    async function* () {
      yield `answer ${++calls}`
    },
    { cache: { ttlMs: 60_000, reads: 'prompt', runs: 20 }, takes },
  )
  const { ask } = await open({ it })
  const tool = { name: 'page', parameters: { type: 'object' } }
  const ways: (RunGiven | undefined)[] = [
    undefined,
    { history: [] },
    historyWith('one'),
    historyWith('two'),
    { history: [{ role: 'assistant', parts: [{ type: 'text', text: 'one' }] }] },
    { instructions: 'one' },
    { instructions: 'two' },
    { output_schema: { type: 'object' } },
    { output_schema: { type: 'array' } },
    { client_tools: [tool] },
    { client_tools: [{ ...tool, description: 'Reads.' }] },
    { ...historyWith('one'), instructions: 'one' },
  ]
  for (const [place, given] of ways.entries()) {
    expect((await ask('q', given)).messages.at(-1)?.content).toBe(`answer ${place + 1}`)
  }
  for (const [place, given] of ways.entries()) {
    const run = await ask('q', given)
    expect([run.cache_hit, run.messages.at(-1)?.content]).toEqual([true, `answer ${place + 1}`])
  }
})

test('a refused history is no hit for a cached answer', async () => {
  const model = scripted(answer('fine'), answer('never'))
  const input = async ({ history }: { history(): Promise<readonly object[]> }) =>
    JSON.stringify(await history()).includes(secret) ? { refuse: 'Not that.' } : undefined
  const { ask } = await open({ it: agent({ model, cache: { ttl: '1m' }, guardrails: { input } }) })
  expect((await ask('q')).messages.at(-1)?.content).toBe('fine')
  expect((await ask('q')).cache_hit).toBe(true)
  const refused = await ask('q', historyWith(secret))
  expect([refused.cache_hit, refused.messages.at(-1)?.content]).toEqual([false, 'Not that.'])
})

test('a run that waits in the queue has what its caller gave, and so has one of an earlier process', async () => {
  const store = cachedStore(memoryStore())
  const echoing = runnable(
    async function* (_input, context) {
      yield `${context.instructions}: ${(await context.history()).map(({ content }) => content)}`
    },
    { takes: ['instructions'] },
  )
  const gate = Promise.withResolvers<void>()
  const slow = runnable(async function* () {
    await gate.promise
    yield 'late'
  })
  const first = await openServices({ it: echoing, slow }, store)
  const given = { ...historyWith('Bern'), instructions: 'Be kind.' }
  const ahead = await first.runs.start(request('slow', 'x', { sessionId: 's' }))
  const handle = await first.runs.start(request('it', 'x', { sessionId: 's', mode: 'background', given }))
  const shutdown = first.runs.shutdown(0)
  gate.resolve()
  await Promise.allSettled([shutdown, ahead.result()])
  expect((await store.findRun(handle.runId))?.status).toBe('queued')
  await store.close()
  const second = await openServices({ it: echoing, slow }, store)
  onTestFinished(() => second.store.close())
  const { queued } = await store.recover('another', new Date().toISOString())
  second.runs.adopt(queued)
  await expect.poll(async () => (await second.runs.get(handle.runId)).status).toBe('completed')
  expect((await second.runs.get(handle.runId)).messages.at(-1)?.content).toBe('Be kind.: Bern')
})
