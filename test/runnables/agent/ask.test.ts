import { afterEach, describe, expect, it } from 'vitest'
import type { RunEvent } from '../../../src/core/event.ts'
import type { Emission, Runnable } from '../../../src/core/runnable.ts'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { withoutSent } from '../../../src/runnables/base/replay.ts'
import { runContext } from '../../../src/runnables/base/run-context.ts'
import { workflow } from '../../../src/runnables/workflow/workflow.ts'
import { runnable } from '../../support/services.ts'
import { afterCrash, closeAsking, ofType, saidBy, serveAsking } from '../asking.ts'
import { fakeContext } from '../fixture.ts'

afterEach(closeAsking)

const usage = { input_tokens: 3, output_tokens: 2, total_tokens: 5 }
const upper = runnable(async function* ({ text }) {
  yield text.toUpperCase()
  yield { type: 'model_call_end', call_id: 'c', usage, finish_reason: 'stop', duration_ms: 1 } as const
})
const careful = workflow({ run: async ({ text, approve }) => `${text}: ${await approve('publish')}` })

function textOf(events: readonly RunEvent[]): string {
  return events.map((event) => (event.type === 'text_delta' ? event.text : '')).join('')
}

describe("ask() in an agent's own `run`", () => {
  it('gives the answer, and sums what the child used', async () => {
    const main = agent({
      async *run({ ask, text }) {
        yield 'It says '
        yield (await ask('upper', text)).text
      },
    })
    const { run, eventsOf } = await serveAsking({ main, upper })
    const record = await run('hi')
    expect({ said: saidBy(record), usage: record.usage }).toEqual({ said: 'It says HI', usage })
    expect((await eventsOf(record.run_id)).map(({ type }) => type)).toEqual([
      'run_start',
      'text_delta',
      'step_start',
      'step_end',
      'text_delta',
      'run_end',
    ])
  })

  it('is called again after a pause: nothing is asked or sent twice', async () => {
    const calls: string[] = []
    const helper = agent({
      run({ text }) {
        calls.push(text)
        return text
      },
    })
    const main = agent({
      async *run({ ask, resumed }) {
        calls.push(`run ${resumed === undefined}`)
        yield 'One, '
        yield { type: 'data', data: { n: 1 } }
        yield (await ask('helper', 'two')).text
        const answers = await Promise.all([ask('careful', 'a'), ask('careful', 'b'), ask('helper', 'c')])
        yield ` ${answers.map(({ text }) => text).join()}`
        yield { type: 'data', data: { n: 2 } }
      },
    })
    const { run, resume, requests, eventsOf, children } = await serveAsking({ main, helper, careful })
    const { run_id: runId, status } = await run()
    expect(status).toBe('input_required')
    const asked = await requests(runId)
    expect(asked).toHaveLength(2)
    const answers = Object.fromEntries(asked.map(({ call_id = '' }, n) => [call_id, { approved: true, input: n }]))
    const record = await resume(runId, { answers })
    expect(record).toMatchObject({ status: 'completed', error: null })
    expect(textOf(await eventsOf(runId))).toMatch(/^One, two a: \d,b: \d,c$/)
    expect(ofType(await eventsOf(runId), 'data').map(({ data }) => data)).toEqual([{ n: 1 }, { n: 2 }])
    expect(calls).toEqual(['run true', 'two', 'c', 'run true'])
    expect(await children(runId)).toHaveLength(4)
  })

  it('shows no partial data of what it had sent', async () => {
    const delta = (n: number): Emission => ({ type: 'data_delta', data: n })
    const data = (n: number): Emission & object => ({ type: 'data', data: n })
    async function* emissions() {
      yield* [delta(1), data(12), delta(3), data(34)]
    }
    const sent = [{ ...data(12), run_id: 'run_1', seq: 2, at: '' } as RunEvent]
    const left: Emission[] = []
    for await (const emission of withoutSent(emissions(), sent, fakeContext().files)) left.push(emission)
    expect(left).toEqual([delta(3), data(34)])
  })

  it('sends what differs from what it had sent, from the first difference on', async () => {
    let turn = 0
    const main = agent({
      async *run({ ask }) {
        yield turn++ === 0 ? 'Hello 🙂 you.' : 'Hello 🙃 there. '
        yield (await ask('careful', 'x')).text
      },
    })
    const { run, resume, eventsOf } = await serveAsking({ main, careful })
    const { run_id: runId } = await run()
    await resume(runId, { approved: true, input: 'ok' })
    expect(textOf(await eventsOf(runId))).toBe('Hello 🙂 you.🙃 there. x: ok')
  })

  it('pauses again for another child, and begins anew after a request of its own', async () => {
    const main = agent({
      async *run({ ask, resumed }) {
        if (resumed === undefined) {
          yield (await ask('careful', 'one')).text
          yield (await ask('careful', 'two')).text
          yield { type: 'input_required', prompt: 'More?' }
        } else {
          yield ` more: ${resumed.input} `
          yield (await ask('careful', 'three')).text
        }
      },
    })
    const { run, resume, eventsOf, children } = await serveAsking({ main, careful })
    const { run_id: runId } = await run()
    const resumed = async (input: string) => (await resume(runId, { approved: true, input })).status
    expect([await resumed('1'), await resumed('2'), await resumed('yes'), await resumed('3')]).toEqual([
      'input_required',
      'input_required',
      'input_required',
      'completed',
    ])
    expect(textOf(await eventsOf(runId))).toBe('one: 1two: 2 more: yes three: 3')
    expect(await children(runId)).toHaveLength(3)
  })

  it('fails when it asks something else after the pause', async () => {
    let turn = 0
    const main = agent({ run: async ({ ask }) => (await ask('careful', `${turn++}`)).text })
    const { run, resume, runs, children } = await serveAsking({ main, careful })
    const { run_id: runId } = await run()
    expect(await resume(runId, { approved: true })).toMatchObject({
      status: 'failed',
      error: {
        code: 'run_failed',
        message: expect.stringContaining("After the pause 'careful' is asked something else"),
      },
    })
    const [child] = await children(runId)
    await expect.poll(async () => (await runs.get(child?.run_id ?? '')).status).toBe('cancelled')
  })

  it('is interrupted after a crash, as before', async () => {
    const begun = Promise.withResolvers<void>()
    const slow = agent({
      async run() {
        begun.resolve()
        return new Promise<never>(() => {})
      },
    })
    const entities = { main: agent({ run: async ({ ask }) => (await ask('slow', 'x')).text }), slow }
    const one = await serveAsking(entities)
    const { runId } = await one.start()
    await begun.promise
    const two = await afterCrash(one.store, entities)
    expect((await two.runs.get(runId)).status).toBe('interrupted')
    expect((await two.children(runId)).map(({ status }) => status)).toEqual(['interrupted'])
    await expect(two.resume(runId)).rejects.toMatchObject({ code: 'conflict' })
  })

  it('waits for the check of a held answer, which then sees the whole of it', async () => {
    const seen: string[] = []
    const main = agent({
      guardrails: {
        input: async () => void seen.push((await runContext().ask('upper', 'in')).text),
        output: ({ text }) => void seen.push(text),
      },
      async *run({ ask }) {
        yield `${(await ask('upper', 'a')).text} `
        yield (await ask('careful', 'b')).text
      },
    })
    const { run, resume, children } = await serveAsking({ main, careful, upper })
    const { run_id: runId, status } = await run()
    expect(status).toBe('input_required')
    expect(saidBy(await resume(runId, { approved: true, input: 'ok' }))).toBe('A b: ok')
    expect(seen).toEqual(['IN', 'A b: ok'])
    expect(await children(runId)).toHaveLength(3)
  })

  it('says so where nothing can wait, and ends the child', async () => {
    const main = agent({
      guardrails: { input: async ({ ask }) => void (await ask('careful', 'x')) },
      run: () => 'never',
    })
    const { run, runs, children } = await serveAsking({ main, careful })
    const record = await run()
    expect(record.error?.message).toContain("'careful' waits for input, and nothing can wait for it here.")
    const [child] = await children(record.run_id)
    expect((await runs.get(child?.run_id ?? '')).status).toBe('cancelled')
  })

  it.each([
    ['without side effects', { sideEffects: false }, 'sideEffects'],
    ['that asks for input itself meanwhile', {}, 'one of them at a time'],
  ])('is refused in an agent %s', async (_name, settings, message) => {
    const main: Runnable = agent({
      ...settings,
      async *run({ ask }) {
        yield { type: 'input_required', prompt: 'Which?' }
        yield (await ask('careful', 'x')).text
      },
    })
    const { run } = await serveAsking({ main, careful })
    expect(await run()).toMatchObject({ status: 'failed', error: { message: expect.stringContaining(message) } })
  })
})
