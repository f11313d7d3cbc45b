import { afterEach, describe, expect, it } from 'vitest'
import { usualLimits } from '../../../src/config/settings/limits.ts'
import type { Runnable } from '../../../src/core/runnable.ts'
import type { SessionStore } from '../../../src/core/store.ts'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { runContext } from '../../../src/runnables/base/run-context.ts'
import { team } from '../../../src/runnables/team/team.ts'
import { workflow } from '../../../src/runnables/workflow/workflow.ts'
import { memoryStore } from '../../../src/store/sessions/memory/store.ts'
import { runnable } from '../../support/services.ts'
import { turns } from '../../support/turns.ts'
import { afterCrash, closeAsking, ofType, saidBy, serveAsking } from '../asking.ts'

afterEach(closeAsking)

const never = new Promise<never>(() => {})
const usage = { input_tokens: 3, output_tokens: 2, total_tokens: 5 }
const upper = runnable(async function* ({ text }) {
  yield { type: 'model_call_start', call_id: 'c', model: 'm' } as const
  yield text.toUpperCase()
  yield { type: 'model_call_end', call_id: 'c', usage, finish_reason: 'stop', duration_ms: 1 } as const
})
const careful = workflow({
  async run({ text, approve }) {
    const note = await approve('publish', { text })
    return `${text}: ${note}`
  },
})

/** An agent that counts what it is asked. */
function counted(answer: (text: string) => string | Promise<string>): { asked: string[]; entity: Runnable } {
  const asked: string[] = []
  const entity = agent({
    async run({ text }) {
      asked.push(text)
      return answer(text)
    },
  })
  return { asked, entity }
}

describe("a workflow's ask()", () => {
  it('gives text, data and run of the answer, as a step that names the child', async () => {
    const seen: unknown[] = []
    const main = workflow({
      async run({ ask }) {
        const { text, data, run } = await ask('upper', 'hello')
        seen.push(text, data, run.status, run.entity_id)
        const object = await ask('object', [
          { type: 'text', text: 'two' },
          { type: 'data', data: { parts: 1 } },
        ])
        seen.push(object.text, object.data, object.run.messages[0]?.parts)
        return text
      },
    })
    const object = runnable(async function* () {
      yield { type: 'data', data: { a: 1 } } as const
      yield { type: 'data', data: { b: 2 } } as const
    })
    const { run, eventsOf, children } = await serveAsking({ main, upper, object })
    const record = await run()
    expect(record).toMatchObject({ status: 'completed', error: null, usage })
    expect(seen).toEqual([
      'HELLO',
      undefined,
      'completed',
      'upper',
      '{"b":2}',
      { b: 2 },
      [
        { type: 'text', text: 'two' },
        { type: 'data', data: { parts: 1 } },
      ],
    ])
    const events = await eventsOf(record.run_id)
    const asked = await children(record.run_id)
    expect(ofType(events, 'step_start')).toMatchObject([
      { name: 'upper', kind: 'ask', child_run_id: asked[0]?.run_id },
      { name: 'object', kind: 'ask', child_run_id: asked[1]?.run_id },
    ])
    expect(ofType(events, 'step_end')).toMatchObject([
      { status: 'completed', output: 'HELLO', usage },
      { status: 'completed', output: '{"b":2}' },
    ])
  })

  it('throws what the child failed with, and what is unknown', async () => {
    const failing = runnable(async function* () {
      yield 'half'
      throw Object.assign(new Error('no luck'), {})
    })
    const main = workflow({
      run: async ({ ask }) => {
        const why = await ask('failing', 'x').catch((error) => `${error.code}: ${error.message}`)
        const unknown = await ask('nobody', 'x').catch((error) => error.code)
        const wrong = await ask('failing', 5 as never).catch((error) => error.message)
        const none = await ask('', 'x').catch((error) => error.code)
        return [why, unknown, wrong, none].join(' | ')
      },
    })
    const { run, eventsOf } = await serveAsking({ main, failing })
    const record = await run()
    expect(saidBy(record)).toMatch(
      /^run_failed: The agent threw an error .* \| agent_not_found \| ask\('failing'\) needs a text .*not 5\. \| invalid_request$/,
    )
    expect(ofType(await eventsOf(record.run_id), 'step_end')).toMatchObject([{ status: 'failed' }])
  })

  it('stands outside of steps, and is there for code that it calls', async () => {
    const main = workflow({
      run: async ({ step }) => {
        const inside = await step('outer', () => runContext().ask('upper', 'x')).catch((error) => error.message)
        return `${(await runContext().ask('upper', 'y')).text} ${inside}`
      },
    })
    const { run } = await serveAsking({ main, upper })
    expect(saidBy(await run())).toContain("Y ask('upper') was called inside a step")
  })

  it('says so when an entity asks itself, directly or through others', async () => {
    const main = workflow({ run: async ({ ask }) => (await ask('other', 'x')).text })
    const other = agent({ run: async ({ ask }) => (await ask('main', 'x')).text })
    const { run } = await serveAsking({ main, other })
    expect(await run()).toMatchObject({
      status: 'failed',
      error: { message: "'main' asks itself: main → other → main. Remove one of these calls of `ask`." },
    })
    const self = await serveAsking({
      main: agent({ cache: { ttl: '1m' }, run: async ({ ask }) => (await ask('main', 'x')).text }),
    })
    expect((await self.run()).error?.message).toContain("'main' asks itself: main → main.")
  })

  it('asks at most so many at the same time', async () => {
    let working = 0
    let most = 0
    const slow = agent({
      async run({ text }) {
        most = Math.max(most, ++working)
        await turns(20)
        working--
        return text
      },
    })
    const main = workflow({
      run: async ({ ask }) => {
        const answers = await Promise.all(Array.from({ length: 9 }, (_, n) => ask('slow', `${n}`)))
        return answers.map(({ text }) => text).join('')
      },
    })
    const usual = usualLimits()
    const { run } = await serveAsking({ main, slow }, { bounds: { ...usual, run: { ...usual.run, asks: 3 } } })
    expect(saidBy(await run())).toBe('012345678')
    expect(most).toBe(3)
  })

  it('ends what it asked with itself', async () => {
    const begun = Promise.withResolvers<void>()
    const slow = agent({
      async run() {
        begun.resolve()
        return never
      },
    })
    const main = workflow({ run: async ({ ask }) => (await ask('slow', 'x')).text })
    const { start, runs, children } = await serveAsking({ main, slow })
    const { runId } = await start()
    await begun.promise
    expect(await runs.cancel(runId)).toMatchObject({ status: 'cancelled' })
    const [child] = await children(runId)
    expect(await runs.get(child?.run_id ?? '')).toMatchObject({ status: 'cancelled', cancellation_reason: 'requested' })
  })
})

describe('a child of a workflow that waits', () => {
  it('pauses the workflow when nothing else is under way, and gets its own answer', async () => {
    const helper = counted((text) => text.toUpperCase())
    const main = workflow({
      run: async ({ ask, approve }) => {
        const first = await ask('helper', 'a')
        const both = await Promise.all([ask('careful', 'one'), ask('careful', 'two'), approve('own')])
        const after = await ask('helper', 'b')
        return JSON.stringify([first.text, both[0].text, both[1].text, both[2], after.text])
      },
    })
    const { run, resume, requests, children } = await serveAsking({ main, careful, helper: helper.entity })
    const { run_id: runId, status } = await run()
    expect(status).toBe('input_required')
    const asked = await requests(runId)
    const waiting = (await children(runId)).filter((child) => child.status === 'input_required')
    expect(asked.map(({ call_id }) => call_id).toSorted()).toEqual(
      [...waiting.map(({ run_id }) => `${run_id}/publish#1`), 'own#1'].toSorted(),
    )
    await expect(resume(runId, { approved: { 'own#1': true } })).rejects.toMatchObject({ code: 'invalid_request' })
    const answers = Object.fromEntries(
      asked.map(({ call_id = '', data }, n) => [
        call_id,
        { approved: true, input: data === undefined ? 'mine' : `${n}` },
      ]),
    )
    const record = await resume(runId, { answers })
    expect(record).toMatchObject({ status: 'completed', error: null })
    const [first, one, two, own, after] = JSON.parse(saidBy(record) ?? '[]')
    expect([first, own, after]).toEqual(['A', 'mine', 'B'])
    expect([one, two].toSorted()).toEqual([expect.stringMatching(/^one: \d$/), expect.stringMatching(/^two: \d$/)])
    expect(helper.asked).toEqual(['a', 'b'])
    expect(await children(runId)).toHaveLength(4)
  })

  it('is cancelled when the workflow fails meanwhile', async () => {
    const main = workflow({
      run: ({ ask, step }) =>
        Promise.all([
          ask('careful', 'x'),
          step('failing', async () => {
            const { runId } = runContext()
            await expect.poll(async () => (await children(runId))[0]?.status).toBe('input_required')
            throw new Error('no luck')
          }),
        ]),
    })
    const { run, runs, children } = await serveAsking({ main, careful })
    const { run_id: runId, status } = await run()
    expect(status).toBe('failed')
    const [child] = await children(runId)
    await expect.poll(async () => (await runs.get(child?.run_id ?? '')).status).toBe('cancelled')
  })

  it('asks again after a crash before the answer, and takes no earlier answer for a later request', async () => {
    const twice = workflow({
      run: async ({ approve }) => `${await approve('first')} ${await approve('second')}`,
    })
    let begun = Promise.withResolvers<void>()
    let isStuck = true
    const main = workflow({
      run: async ({ ask, step }) => {
        const [answer] = await Promise.all([
          ask('twice', 'x'),
          step('stuck', () => {
            begun.resolve()
            return isStuck ? never : 'free'
          }),
        ])
        return answer.text
      },
    })
    const entities = { main, twice }
    const one = await serveAsking(entities)
    const { runId } = await one.start()
    await begun.promise
    await expect.poll(async () => (await one.children(runId))[0]?.status).toBe('input_required')
    isStuck = false
    const two = await afterCrash(one.store, entities)
    expect(await two.resume(runId)).toMatchObject({ status: 'input_required' })
    expect(await two.requests(runId)).toMatchObject([{ call_id: expect.stringMatching(/\/first#1$/) }])
    // The child takes this answer and asks again; the process dies then.
    isStuck = true
    begun = Promise.withResolvers()
    const held = holdEvents(two.store, runId)
    const three = await serveAsking(entities, { store: held.store, dies: true })
    await three.runs.resume(runId, { approved: true, input: 'A', mode: 'background' })
    const childId = (await three.children(runId))[0]?.run_id ?? ''
    const second = async () => (await three.requests(childId)).map(({ call_id }) => call_id)
    await expect.poll(second).toEqual(['second#1'])
    const four = await afterCrash(one.store, entities)
    expect(await four.resume(runId)).toMatchObject({ status: 'input_required' })
    expect(await four.requests(runId)).toMatchObject([{ call_id: `${childId}/second#1` }])
    expect(saidBy(await four.resume(runId, { approved: true, input: 'B' }))).toBe('A B')
  })
})

/** The store, which forgets from now on what this run emits and how it ends. */
function holdEvents(store: SessionStore, runId: string): { store: SessionStore } {
  const held = new Proxy(store, {
    get(target, key) {
      const value = Reflect.get(target, key)
      if (typeof value !== 'function') return value
      if (key !== 'appendEvents' && key !== 'finishRun') return value.bind(target)
      return async (write: { run_id: string }) =>
        write.run_id === runId ? (key === 'finishRun' ? never : 'ok') : value.call(target, write)
    },
  })
  return { store: held }
}

describe('a workflow that is resumed after a crash', () => {
  it('does not ask again what has ended, and asks an agent under way once more in a new run', async () => {
    let begun = Promise.withResolvers<void>()
    let isStuck = true
    const first = counted(() => 'first')
    const second = counted(() => {
      begun.resolve()
      return isStuck ? never : 'second'
    })
    const main = workflow({
      run: async ({ ask }) => `${(await ask('first', 'a')).text} ${(await ask('second', 'b')).text}`,
    })
    const entities = { main, first: first.entity, second: second.entity }
    const one = await serveAsking(entities)
    const { runId } = await one.start()
    await begun.promise
    begun = Promise.withResolvers()
    isStuck = false
    const two = await afterCrash(one.store, entities)
    const record = await two.resume(runId)
    expect({ status: record.status, said: saidBy(record) }).toEqual({ status: 'completed', said: 'first second' })
    expect([first.asked, second.asked]).toEqual([['a'], ['b', 'b']])
    const children = await two.children(runId)
    expect(children.map(({ entity_id, status }) => [entity_id, status])).toEqual([
      ['first', 'completed'],
      ['second', 'interrupted'],
      ['second', 'completed'],
    ])
    const starts = ofType(await two.eventsOf(runId), 'step_start').filter(({ name }) => name === 'second')
    expect(starts.map(({ child_run_id }) => child_run_id)).toEqual(children.slice(1).map(({ run_id }) => run_id))
    expect(new Set(starts.map(({ step_id }) => step_id)).size).toBe(1)
  })

  it('takes the answer of a child that ended before the workflow recorded it', async () => {
    for (const failing of [false, true]) {
      const helper = counted(() => {
        if (failing) throw new Error('no')
        return 'done'
      })
      const inner = memoryStore()
      const main = workflow({
        run: async ({ ask }) => (await ask('helper', 'a').catch((error) => ({ text: error.message }))).text,
      })
      const entities = { main, helper: helper.entity }
      // The parent loses its events from the end of the child on, as when the process dies there.
      let isOver = false
      const store = new Proxy(inner, {
        get(target, key) {
          const value = Reflect.get(target, key)
          if (typeof value !== 'function') return value
          if (key !== 'finishRun' && key !== 'appendEvents') return value.bind(target)
          return async (write: { run_id: string }) => {
            const { parent_run_id: parent } = (await target.findRun(write.run_id)) ?? {}
            if (parent === null && isOver) return never
            const done = await value.call(target, write)
            isOver ||= key === 'finishRun' && parent !== null
            return done
          }
        },
      })
      const one = await serveAsking(entities, { store, dies: true })
      const { runId } = await one.start()
      await expect
        .poll(async () => (await inner.listRuns({ parent_run_id: runId }, { limit: 9 })).items[0]?.completed_at)
        .toBeTruthy()
      const two = await afterCrash(inner, entities)
      expect(ofType(await two.eventsOf(runId), 'step_end')).toEqual([])
      const record = await two.resume(runId)
      expect(record.status).toBe('completed')
      expect(saidBy(record)).toMatch(failing ? /threw an error/ : /^done$/)
      expect(helper.asked).toEqual(['a'])
      expect(ofType(await two.eventsOf(runId), 'step_end')).toMatchObject([
        { status: failing ? 'failed' : 'completed' },
      ])
    }
  })

  it('starts a child that the record names, but that never began', async () => {
    const helper = counted(() => 'done')
    const inner = memoryStore()
    const main = workflow({ run: async ({ ask }) => (await ask('helper', 'a')).text })
    const entities = { main, helper: helper.entity }
    const store = new Proxy(inner, {
      get(target, key) {
        const value = Reflect.get(target, key)
        if (typeof value !== 'function') return value
        if (key !== 'startRun') return value.bind(target)
        return (start: { run: { parent_run_id: string | null } }) =>
          start.run.parent_run_id === null ? value.call(target, start) : never
      },
    })
    const one = await serveAsking(entities, { store, dies: true })
    const { runId } = await one.start()
    const named = async () => ofType(await inner.readEvents(runId, 0, 10), 'step_start').at(-1)?.child_run_id
    await expect.poll(named).toMatch(/^run_/)
    const two = await afterCrash(inner, entities)
    expect(saidBy(await two.resume(runId))).toBe('done')
    expect((await two.children(runId)).map(({ run_id }) => run_id)).toEqual([await named()])
  })

  it('resumes a workflow that it asked, and a team again', async () => {
    let begun = Promise.withResolvers<void>()
    let isStuck = true
    const ran: string[] = []
    const work = async (name: string) => {
      ran.push(name)
      if (ran.filter((other) => other === 'stuck').length === 2) begun.resolve()
      return name === 'stuck' && isStuck ? never : name
    }
    const inner = workflow({
      run: async ({ step }) => `${await step('a', () => work('a'))} ${await step('b', () => work('stuck'))}`,
    })
    const group = team({ members: [agent({ name: 'member', run: () => work('stuck') })] })
    const main = workflow({
      run: async ({ ask }) =>
        (await Promise.all([ask('inner', 'x'), ask('group', 'x')])).map(({ text }) => text).join(),
    })
    const entities = { main, inner, group }
    const one = await serveAsking(entities)
    const { runId } = await one.start()
    await begun.promise
    begun = Promise.withResolvers()
    isStuck = false
    const two = await afterCrash(one.store, entities)
    expect(saidBy(await two.resume(runId))).toBe('a stuck,stuck')
    expect(ran.toSorted()).toEqual(['a', 'stuck', 'stuck', 'stuck', 'stuck'])
    const children = await two.children(runId)
    expect(children.map(({ entity_id, status }) => `${entity_id} ${status}`).toSorted()).toEqual([
      'group completed',
      'group interrupted',
      'inner completed',
    ])
  })

  it('refuses a question that is not the recorded one', async () => {
    let question = 'old'
    let isStuck = true
    const helper = counted(() => 'answer')
    const begun = Promise.withResolvers<void>()
    const main = workflow({
      run: async ({ ask, step }) => {
        const { text } = await ask('helper', question)
        return step('stuck', () => {
          begun.resolve()
          return isStuck ? never : text
        })
      },
    })
    const entities = { main, helper: helper.entity }
    const one = await serveAsking(entities)
    const { runId } = await one.start()
    await begun.promise
    isStuck = false
    question = 'new'
    const two = await afterCrash(one.store, entities)
    expect(await two.resume(runId)).toMatchObject({
      status: 'interrupted',
      error: {
        message: expect.stringContaining("code has changed since this run began: 'helper' is asked something else"),
      },
    })
    question = 'old'
    expect(saidBy(await two.resume(runId))).toBe('answer')
    expect(helper.asked).toEqual(['old'])
  })
})
