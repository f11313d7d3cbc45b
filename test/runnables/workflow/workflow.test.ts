import { describe, expect, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
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

  it('answers with JSON for anything but a text', async () => {
    expect((await collect(workflow({ run: () => ({ a: [1] }) }), '')).text).toBe('{"a":[1]}')
    expect((await collect(workflow({ run: () => undefined }), '')).types).toEqual([])
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
    const { of, text } = await collect(entity, '')
    expect(of('step_start').map(({ name }) => name)).toEqual(['slow', 'quick'])
    expect(of('step_end')).toHaveLength(2)
    expect(text).toBe('["slow","quick"]')
  })

  it('tries a failed step again as often as it may', async () => {
    const entity = workflow({
      run: ({ step }) =>
        step('flaky', { retries: 1 }, ({ attempt }) => {
          if (attempt === 1) throw new Error('not yet')
          return attempt
        }),
    })
    const { of, text } = await collect(entity, '')
    expect(text).toBe('2')
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
