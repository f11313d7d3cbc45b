import { describe, expect, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import type { RunEvent } from '../../../src/core/event.ts'
import type { Json } from '../../../src/core/json.ts'
import { workflow } from '../../../src/runnables/workflow/workflow.ts'
import { collect, fakeContext } from '../fixture.ts'

describe('workflow', () => {
  it('records its steps and answers with what it returns', async () => {
    const entity = workflow({
      async run({ text, step }) {
        const words = await step('split', () => text.split(' '))
        expectTypeOf(words).toEqualTypeOf<string[]>()
        return `${await step('count', { retries: 1 }, () => words.length)} words`
      },
    })
    const { text, types, of } = await collect(entity, 'one two')
    expect(types).toEqual(['step_start', 'step_end', 'step_start', 'step_end', 'text_delta'])
    expect(of('step_end').map(({ output }) => output)).toEqual([['one', 'two'], 2])
    expect(text).toBe('2 words')
  })

  it.each([[{ a: [1] }], [[1, 'two']], [0], [false], [null]])('answers with the data part %j', async (data) => {
    expect((await collect(workflow({ run: () => data }), '')).events).toEqual([{ type: 'data', data }])
  })

  it('answers with a text as it is, and with nothing for nothing', async () => {
    expect((await collect(workflow({ run: () => '{"a":1}' }), '')).types).toEqual(['text_delta'])
    expect((await collect(workflow({ run: () => undefined }), '')).types).toEqual([])
  })

  it.each<[string, Json[], Json[]]>([
    ['is recorded', [{ a: 1, b: [2] }], []],
    ['is not recorded', [], [{ b: [2], a: 1 }]],
    ['has changed', [{ a: 0, b: [2] }], [{ b: [2], a: 1 }]],
  ])('gives its data once when it is resumed and the answer %s', async (_how, before, after) => {
    const stamp = { run_id: 'run_1', at: '2026-01-01T00:00:00.000Z' }
    const events: RunEvent[] = before.map((data, place) => ({ type: 'data', data, seq: place + 2, ...stamp }))
    const context = { ...fakeContext(), resumed: { events } }
    const { of } = await collect(workflow({ run: () => ({ b: [2], a: 1 }) }), '', context)
    expect(of('data').map(({ data }) => data)).toEqual(after)
  })

  it('merges the events of steps that run at the same time', async () => {
    const gate = Promise.withResolvers<void>()
    const entity = workflow({
      run: ({ step }) =>
        Promise.all([
          step('slow', () => gate.promise.then(() => 'slow')),
          step('quick', () => {
            gate.resolve()
            return 'quick'
          }),
        ]),
    })
    const { of } = await collect(entity, '')
    expect(of('step_start').map(({ name }) => name)).toEqual(['slow', 'quick'])
    expect(of('step_end')).toHaveLength(2)
    expect(of('data')).toMatchObject([{ data: ['slow', 'quick'] }])
  })

  it('tries a failed step again as often as it may', async () => {
    const entity = workflow({
      run: ({ step }) =>
        step('flaky', { retries: 1 }, ({ attempt }) => {
          if (attempt === 1) throw new Error('not yet')
          return attempt
        }),
    })
    const { of } = await collect(entity, '')
    expect(of('data')).toMatchObject([{ data: 2 }])
    expect(of('step_end')).toMatchObject([{ status: 'completed', output: 2 }])
  })

  it('ends a step that takes too long, whether it heeds the signal or not', async () => {
    const entity = workflow({ run: ({ step }) => step('stuck', { timeout: 5 }, () => new Promise(() => {})) })
    const { of, error } = await collect(entity, '')
    expect(error).toMatchObject({ code: 'run_failed', message: "The step 'stuck' exceeded its limit of 5 ms." })
    expect(of('step_end')).toMatchObject([{ status: 'failed' }])
  })

  it('ends with the run, its open steps cancelled', async () => {
    const cancel = new AbortController()
    let stepSignal: AbortSignal | undefined
    const entity = workflow({
      run: ({ step }) =>
        step('wait', ({ signal }) => {
          stepSignal = signal
          cancel.abort(new Error('requested'))
          return new Promise(() => {})
        }),
    })
    const { of, error } = await collect(entity, '', fakeContext({ signal: cancel.signal }))
    expect(error).toMatchObject({ message: 'requested' })
    expect(of('step_end')).toMatchObject([{ status: 'cancelled' }])
    expect(stepSignal?.aborted).toBe(true)
  })

  it('ends on cancel even when its own code never does', async () => {
    const cancel = new AbortController()
    const entity = workflow({
      run: () => {
        cancel.abort(new Error('requested'))
        return new Promise(() => {})
      },
    })
    expect((await collect(entity, '', fakeContext({ signal: cancel.signal }))).error).toMatchObject({
      message: 'requested',
    })
  })

  it('survives a failing step that nobody waits for', async () => {
    const entity = workflow({
      run({ step }) {
        void step('lost', () => {
          throw new Error('unseen')
        })
        return 'done'
      },
    })
    expect((await collect(entity, '')).text).toBe('done')
  })

  describe('with an input schema', () => {
    const entity = workflow({
      input: z.object({ topic: z.string() }),
      run({ input }) {
        expectTypeOf(input).toEqualTypeOf<{ topic: string }>()
        return input.topic
      },
    })

    it('reads a data part, or JSON text', async () => {
      expect((await collect(entity, [{ type: 'data', data: { topic: 'data' } }])).text).toBe('data')
      expect((await collect(entity, '{"topic":"text"}')).text).toBe('text')
    })

    it('reads plain text where the schema wants one, also when it looks like a number', async () => {
      const plain = workflow({ input: z.string(), run: ({ input }) => input })
      expect((await collect(plain, 'hello')).text).toBe('hello')
      expect((await collect(plain, '42')).text).toBe('42')
    })

    it('names the path of what is wrong', async () => {
      const { error } = await collect(entity, '{"topic":5}')
      expect(error).toMatchObject({ code: 'invalid_request', details: [{ path: 'input.topic' }] })
      expect((await collect(entity, 'hello')).error).toMatchObject({ details: [{ path: 'input' }] })
    })
  })

  it('refuses wrong settings and step options', async () => {
    expect(() => workflow({} as never)).toThrow('`run` is missing')
    expect(() => workflow({ input: {}, run: () => '' } as never)).toThrow(/must be a schema/)
    const entity = workflow({ run: ({ step }) => step('x', { retry: 1 } as never, () => 1) })
    expect((await collect(entity, '')).error).toMatchObject({
      message: expect.stringContaining('expected one of retries, backoff, timeout'),
    })
  })
})
