import { afterEach, describe, expect, expectTypeOf, it, vi } from 'vitest'
import { z } from 'zod'
import type { RunEvent } from '../../../src/core/event.ts'
import type { Json } from '../../../src/core/json.ts'
import type { Runnable } from '../../../src/core/runnable.ts'
import type { SessionStore } from '../../../src/core/store.ts'
import { runContext } from '../../../src/runnables/base/run-context.ts'
import { workflow } from '../../../src/runnables/workflow/workflow.ts'
import { memoryStore } from '../../../src/store/sessions/memory/store.ts'
import { collect, openServices, request } from '../../support/services.ts'
import { turns } from '../../support/turns.ts'

let number = 0
const open: (() => Promise<void>)[] = []
afterEach(async () => {
  vi.useRealTimers()
  for (const close of open.splice(0)) await close()
})

/** Services of one process; another one over the same store is what a restart leaves. */
async function serve(flow: Runnable, store: SessionStore = memoryStore()) {
  const services = await openServices({ flow }, store)
  open.push(() => services.runs.shutdown(0))
  const start = async (text = 'x') => {
    const handle = await services.runs.start(request('flow', text, { mode: 'background' }))
    return { ...handle, record: handle.result() }
  }
  const resume = async (runId: string, answer: { approved?: boolean | Record<string, boolean>; input?: Json } = {}) =>
    (await services.runs.resume(runId, { ...answer, mode: 'background' })).result()
  const events = async (runId: string): Promise<RunEvent[]> => collect(await services.runs.events(runId, 0))
  return { ...services, start, resume, events, store }
}

/** What a process that dies leaves, as the next one finds it. */
async function crash({ store }: { store: SessionStore }, flow: Runnable) {
  await store.recover(`own_${++number}`, new Date().toISOString())
  return serve(flow, store)
}

const never = new Promise<never>(() => {})
const answerOf = (record: { messages: { role: string; content: string }[] }) => record.messages[1]?.content

describe('approve()', () => {
  it('pauses the run, and gives what came with the approval', async () => {
    const ran: string[] = []
    const flow = workflow({
      async run({ step, approve }) {
        const draft = await step('write', () => {
          ran.push('write')
          return 'draft'
        })
        const note = await approve('publish', { draft })
        expectTypeOf(note).toEqualTypeOf<Json | undefined>()
        return step('publish', () => {
          ran.push('publish')
          return `${draft}: ${note}`
        })
      },
    })
    const { start, resume, events } = await serve(flow)
    const { runId, record } = await start()
    expect(await record).toMatchObject({ status: 'input_required' })
    expect((await events(runId)).find(({ type }) => type === 'input_required')).toMatchObject({
      call_id: 'publish#1',
      prompt: "Approve 'publish'?",
      data: { draft: 'draft' },
    })
    const ended = await resume(runId, { approved: true, input: 'nice' })
    expect({ status: ended.status, answer: answerOf(ended) }).toEqual({ status: 'completed', answer: 'draft: nice' })
    expect(ran).toEqual(['write', 'publish'])
    const seen = await events(runId)
    expect(seen.filter(({ type }) => type === 'step_start')).toHaveLength(2)
    expect(seen.filter(({ type }) => type === 'run_start' || type === 'run_end')).toHaveLength(2)
  })

  it('ends the run as cancelled when it is refused, unless that is caught', async () => {
    const refused = await serve(workflow({ run: ({ approve }) => approve('it') }))
    const first = await refused.start()
    await first.record
    expect(await refused.resume(first.runId, { approved: false, input: 'no way' })).toMatchObject({
      status: 'cancelled',
      cancellation_reason: "'it' was not approved: no way",
    })
    const caught = await serve(workflow({ run: ({ approve }) => approve('it').catch(() => 'well then') }))
    const second = await caught.start()
    await second.record
    expect(answerOf(await caught.resume(second.runId, { approved: false }))).toBe('well then')
  })

  it('waits for steps beside it, and for several at once, each decided by itself', async () => {
    const gate = Promise.withResolvers<void>()
    const flow = workflow({
      run: ({ step, approve }) =>
        Promise.all([
          approve('a'),
          approve('b').catch(() => 'refused'),
          step('slow', () => gate.promise.then(() => 'slow')).then((slow) => step('next', () => `${slow} next`)),
        ]),
    })
    const { start, resume, events } = await serve(flow)
    const { runId, record } = await start()
    gate.resolve()
    expect(await record).toMatchObject({ status: 'input_required' })
    expect((await events(runId)).filter(({ type }) => type === 'step_end')).toHaveLength(2)
    await expect(resume(runId, { approved: { 'a#1': true } })).rejects.toMatchObject({ code: 'invalid_request' })
    const ended = await resume(runId, { approved: { 'a#1': true, 'b#1': false }, input: 1 })
    expect(answerOf(ended)).toBe('[1,"refused","slow next"]')
  })

  it('asks again after a crash before the answer', async () => {
    let begun = Promise.withResolvers<void>()
    const flow = workflow({
      run: ({ step, approve }) =>
        Promise.all([
          approve('it'),
          step('stuck', () => {
            begun.resolve()
            return number === 0 ? never : 'free'
          }),
        ]),
    })
    number = 0
    const first = await serve(flow)
    const { runId } = await first.start()
    await begun.promise
    begun = Promise.withResolvers()
    const second = await crash(first, flow)
    expect(await second.resume(runId)).toMatchObject({ status: 'input_required' })
    expect(answerOf(await second.resume(runId, { approved: true, input: 'ok' }))).toBe('["ok","free"]')
  })

  it('does not stand inside a step', async () => {
    const flow = workflow({ run: ({ step, approve }) => step('outer', () => approve('inner')) })
    const { start } = await serve(flow)
    expect((await (await start()).record).error?.message).toContain("approve('inner') was called inside a step")
  })
})

describe('a journaled step', () => {
  it('never runs again, failed ones included, and those under way run under their old id and key', async () => {
    const ran: string[] = []
    const begun = Promise.withResolvers<void>()
    let dead = true
    const flow = workflow({
      async run({ step }) {
        await step('fails', () => {
          ran.push('fails')
          throw new Error('as ever')
        }).catch((error: Error) => ran.push(`caught ${error.message}`))
        const done = await step('works', { retries: 2, backoff: 1 }, ({ attempt, idempotencyKey }) => {
          ran.push(`works ${idempotencyKey.replace(/^run_\w+/, 'run')} ${attempt}`)
          if (attempt === 1) throw new Error('once more')
          return { at: new Date(0), nothing: undefined }
        })
        expectTypeOf(done).toEqualTypeOf<{ at: string; nothing: undefined }>()
        return step('stuck', ({ idempotencyKey }) => {
          ran.push(idempotencyKey.replace(/^run_\w+/, 'run'))
          begun.resolve()
          return dead ? never : done
        })
      },
    })
    const first = await serve(flow)
    const { runId } = await first.start()
    await begun.promise
    expect(ran).toEqual(['fails', 'caught as ever', 'works run/works#1 1', 'works run/works#1 2', 'run/stuck#1'])
    dead = false
    ran.length = 0
    const second = await crash(first, flow)
    const ended = await second.resume(runId)
    expect(answerOf(ended)).toBe('{"at":"1970-01-01T00:00:00.000Z"}')
    expect(ended.truncated).toBe(true)
    expect(ran).toEqual(['caught as ever', 'run/stuck#1'])
    const starts = (await second.events(runId)).filter((event) => event.type === 'step_start' && event.name === 'stuck')
    expect(new Set(starts.map((event) => event.type === 'step_start' && event.step_id)).size).toBe(1)
  })

  it('is durable before the next one begins', async () => {
    const store = memoryStore()
    const recorded: string[][] = []
    const flow = workflow({
      async run({ step, runId }) {
        for (const name of ['one', 'two', 'three']) {
          await step(name, async () => {
            const events = await store.readEvents(runId, 0, 100)
            recorded.push(events.flatMap((event) => (event.type === 'step_end' ? [String(event.output)] : [])))
            return name
          })
        }
      },
    })
    const { start } = await serve(flow, store)
    await (await start()).record
    expect(recorded).toEqual([[], ['one'], ['one', 'two']])
  })

  it('gives what was recorded whatever else runs: loops, steps inside steps, parallel ones in any order', async () => {
    let runs = 0
    const flow = workflow({
      async run({ step, approve }) {
        const count = (name: string) => () => `${name}${++runs}`
        const loop: string[] = []
        for (let turn = 0; turn < 3; turn++) loop.push(await step('turn', count('t')))
        const outer = await step('outer', async () => `${await step('turn', count('inner'))}+`)
        const chain = async (name: string, length: number) => {
          const said: string[] = []
          for (let turn = 0; turn < length; turn++) {
            // Beside the steps other things may happen, and not always as many.
            await turns(name === 'a' ? 5 : 1)
            said.push(await step(name, count(name)))
          }
          return said
        }
        const chains = await Promise.all([chain('a', 2), chain('b', 4)])
        await approve('stop')
        return { loop, outer, chains }
      },
    })
    const { start, resume } = await serve(flow)
    const { runId, record } = await start()
    await record
    const before = runs
    const ended = await resume(runId, { approved: true })
    expect(runs).toBe(before)
    expect(ended.error).toBeNull()
    expect(JSON.parse(answerOf(ended) ?? '')).toMatchObject({ loop: ['t1', 't2', 't3'], outer: 'inner4+' })
  })

  it('refuses what JSON would not give back', async () => {
    const { start } = await serve(workflow({ run: ({ step }) => step('bytes', () => new Uint8Array(2)) }))
    expect((await (await start()).record).error?.message).toBe(
      "step('bytes') returned a value that can't be recorded: Uint8Array is not JSON.",
    )
  })
})

describe('a workflow that has changed', () => {
  type Step = Parameters<Parameters<typeof workflow<string>>[0]['run']>[0]['step']
  const both = async (step: Step) => `${await step('one', () => 1)}${await step('two', () => 2)}`
  const flow = (body: (step: Step) => Promise<unknown>) =>
    workflow({
      async run({ step, approve }) {
        const said = await body(step)
        await approve('on')
        return said
      },
    })

  /** Resumes while time is short, so that nobody waits for what does not come. */
  async function resumeInNoTime(services: Awaited<ReturnType<typeof serve>>, runId: string) {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const resuming = services.resume(runId, { approved: true })
    await vi.waitFor(async () => {
      await vi.advanceTimersByTimeAsync(1000)
      expect((await services.runs.get(runId)).status).not.toBe('running')
    })
    vi.useRealTimers()
    return resuming
  }

  it.each<[string, Runnable, string]>([
    [
      'another order',
      flow(async (step) => [await step('two', () => 2), await step('one', () => 1)]),
      "'two' now comes first; it used to come after 'one'",
    ],
    [
      'a new step before',
      flow(async (step) => [await step('zero', () => 0), await both(step)]),
      "'zero' now comes where 'one' used to come",
    ],
    [
      'a new step between',
      flow(async (step) => [await step('one', () => 1), await step('new', () => 0), await step('two', () => 2)]),
      "'new' now comes where 'two' used to come",
    ],
    ['a step less', flow((step) => step('one', () => 1)), "it ended without 'two'"],
    ['no step any more', workflow({ run: () => 'nothing' }), "it ended without 'one'"],
    [
      'an error that is swallowed',
      flow((step) => step('two', () => 2).catch(() => 'swallowed')),
      "'two' now comes first; it used to come after 'one'",
    ],
  ])('is told so, does nothing, and keeps its run: %s', async (_how, changed, message) => {
    const first = await serve(flow(both))
    const { runId, record } = await first.start()
    await record
    const second = await serve(changed, first.store)
    const refused = await resumeInNoTime(second, runId)
    expect(refused).toMatchObject({ status: 'interrupted', error: { code: 'run_interrupted' } })
    expect(refused.error?.message).toContain(message)
    const events = await second.events(runId)
    expect(events.at(-1)).toMatchObject({ type: 'run_error', error: { code: 'run_interrupted' } })
    expect(events.filter(({ type }) => type === 'step_start')).toHaveLength(2)
    const third = await serve(flow(both), first.store)
    expect(answerOf(await third.resume(runId))).toBe('12')
  })

  it('is waited for where threads of code race each other', async () => {
    let first = true
    const gate = Promise.withResolvers<void>()
    const racing = workflow({
      async run({ step, approve }) {
        const one = async () => {
          await (first ? undefined : gate.promise)
          return step('one', () => 1)
        }
        const two = async () => {
          await (first ? never : undefined)
          void turns(5).then(gate.resolve)
          return step('two', () => 2)
        }
        const said = Promise.all([one(), two()])
        await approve('on')
        return said
      },
    })
    const { start, resume } = await serve(racing)
    const { runId, record } = await start()
    await record
    first = false
    expect(answerOf(await resume(runId, { approved: true }))).toBe('[1,2]')
  })
})

describe("the session's state", () => {
  const schema = z.object({ count: z.number().default(0), tags: z.array(z.string()).default([]) })

  it('is typed by its schema, kept with the end, and seen by the next run', async () => {
    const flow = workflow({
      state: schema,
      run({ state }) {
        expectTypeOf(state).toEqualTypeOf<{ count: number; tags: string[] }>()
        state.count += 1
        state.tags.push('x')
        return state.count
      },
    })
    const { runs, sessions } = await serve(flow)
    const first = await (await runs.start(request('flow', 'x'))).result()
    const second = await (await runs.start(request('flow', 'x', { sessionId: first.session_id }))).result()
    expect([answerOf(first), answerOf(second)]).toEqual(['1', '2'])
    expect((await sessions.get(first.session_id)).session.state).toEqual({ count: 2, tags: ['x', 'x'] })
  })

  it('is refused when it does not suit the schema', async () => {
    const { runs } = await serve(workflow({ state: schema, run: () => 'never' }))
    const handle = await runs.start(request('flow', 'x', { state: { count: 'many' } }))
    expect((await handle.result()).error).toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining('state.count'),
    })
  })

  it('is kept at a pause, and what a step changed before a crash is there after it', async () => {
    const begun = Promise.withResolvers<void>()
    let dead = true
    const flow = workflow({
      async run({ state, step, approve }) {
        await step('before', () => {
          runContext<{ seen?: string[] }>().state.seen = ['before']
        })
        await approve('on')
        await step('after', () => {
          const context = runContext<{ seen?: string[] }>()
          context.state.seen = [...(context.state.seen ?? []), 'after']
        })
        await step('stuck', () => {
          begun.resolve()
          return dead ? never : 1
        })
        return state.seen
      },
    })
    const first = await serve(flow)
    const { runId, sessionId, record } = await first.start()
    await record
    expect((await first.sessions.get(sessionId)).session.state).toEqual({ seen: ['before'] })
    await first.sessions.update(sessionId, { state: { seen: ['changed'] } })
    void first.resume(runId, { approved: true }).catch(() => {})
    await begun.promise
    dead = false
    const second = await crash(first, flow)
    expect(answerOf(await second.resume(runId))).toBe('["changed","after"]')
    expect((await second.sessions.get(sessionId)).session.state).toEqual({ seen: ['changed', 'after'] })
  })

  it('is asked for inside of runs alone', () => {
    expect(() => runContext()).toThrow('outside a run')
  })
})

it('types the results of steps without a cast', () => {
  workflow({
    input: z.object({ topic: z.string(), limit: z.number().optional() }),
    async run({ input, step }) {
      expectTypeOf(input).toEqualTypeOf<{ topic: string; limit?: number | undefined }>()
      expectTypeOf(await step('text', () => 'a')).toEqualTypeOf<string>()
      expectTypeOf(await step('list', async () => [{ id: 1 }])).toEqualTypeOf<{ id: number }[]>()
      expectTypeOf(await step('dates', () => [{ at: new Date() }])).toEqualTypeOf<{ at: string }[]>()
      expectTypeOf(await step('nothing', () => {})).toEqualTypeOf<void>()
      expectTypeOf(await step('options', { retries: 1 }, () => null)).toEqualTypeOf<null>()
      const both = await Promise.all([step('a', () => 1), step('b', () => 'b')])
      expectTypeOf(both).toEqualTypeOf<[number, string]>()
      // @ts-expect-error a step takes what its options are called
      void step('wrong', { retry: 1 }, () => 1)
    },
  })
})
