import { afterEach, expect, test } from 'vitest'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { workflow } from '../../../src/runnables/workflow/workflow.ts'
import { memoryStore } from '../../../src/store/sessions/memory/store.ts'
import { afterCrash, closeAsking, saidBy, serveAsking } from '../asking.ts'

afterEach(closeAsking)

const asker = {
  'approvals of one name': workflow({ run: async ({ approve }) => `${await approve('go')} ${await approve('go')}` }),
  'requests without an id': agent({
    async *run({ resumed }) {
      const given = resumed?.events.flatMap((event) => (event.type === 'run_resumed' ? [event.input] : [])) ?? []
      if (given.length < 2) yield { type: 'input_required', prompt: 'Which?' }
      else yield given.join(' ')
    },
  }),
}

test.each(Object.entries(asker))(
  'an answer that was recorded before a crash reaches its request only: %s',
  async (_name, twice) => {
    const inner = memoryStore()
    const main = workflow({ run: async ({ ask }) => (await ask('twice', 'x')).text })
    const entities = { main, twice }
    const one = await serveAsking(entities, { store: inner })
    const { run_id: runId } = await one.run()
    const [child] = await one.children(runId)
    const childId = child?.run_id
    // Within one millisecond it is unknown which came first, so the child asks once more.
    const pausedAt = Date.parse(child?.completed_at ?? '')
    await expect.poll(() => Date.now(), { interval: 1 }).toBeGreaterThan(pausedAt)
    // The process dies after the parent has the answer, and before the child has it.
    const reached = Promise.withResolvers<void>()
    const store = new Proxy(inner, {
      get(target, key) {
        const value = Reflect.get(target, key)
        if (typeof value !== 'function') return value
        if (key !== 'resumeRun') return value.bind(target)
        return (resume: { run_id: string }) => {
          if (resume.run_id !== childId) return value.call(target, resume)
          reached.resolve()
          return new Promise<never>(() => {})
        }
      },
    })
    const two = await serveAsking(entities, { store, dies: true })
    await two.runs.resume(runId, { approved: true, input: 'A', mode: 'background' })
    await reached.promise
    const three = await afterCrash(inner, entities)
    expect((await three.runs.get(runId)).status).toBe('interrupted')
    expect((await three.runs.get(childId ?? '')).status).toBe('input_required')
    expect(await three.resume(runId)).toMatchObject({ status: 'input_required', error: null })
    expect(await three.requests(runId)).toHaveLength(1)
    expect((await three.children(runId)).map(({ run_id }) => run_id)).toEqual([childId])
    const record = await three.resume(runId, { approved: true, input: 'B' })
    expect({ said: saidBy(record), error: record.error }).toEqual({ said: 'A B', error: null })
  },
)
