import { describe, expect, it } from 'vitest'
import type { RunEvent } from '../../../src/core/event.ts'
import type { Message } from '../../../src/core/message.ts'
import type { RunEnd, RunStart } from '../../../src/core/run-write.ts'
import type { SessionStore } from '../../../src/core/store.ts'
import { at, endOf, started, startOf } from './builders.ts'

const round: Record<string, unknown> = {}
round.round = round
const roundList: unknown[] = []
roundList.push(roundList)
let deep: unknown = 'end'
for (let level = 0; level < 100_000; level++) deep = [deep]

/** What no type lets through, and what a caller without types may put in. */
const nonsense: [string, unknown][] = [
  ['a BigInt', 1n],
  ['a circle', round],
  ['a list that holds itself', roundList],
  ['nesting without end', deep],
]

export function testHostile(store: () => SessionStore): void {
  /** Beside an ordinary run, which must be kept. */
  async function refuses(write: () => Promise<unknown>): Promise<void> {
    const before = startOf({})
    const after = startOf({})
    const all = await Promise.allSettled([
      store().startRun(before),
      store().finishRun(endOf(before.run.run_id)),
      write(),
      store().startRun(after),
      store().finishRun(endOf(after.run.run_id)),
    ])
    expect(all.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled', 'fulfilled'])
    for (const { run } of [before, after]) expect((await store().findRun(run.run_id))?.status).toBe('completed')
    await store().check()
  }

  describe('records that can not be written', () => {
    it.each(nonsense)('refuses a start that holds %s, that one alone, and keeps nothing of it', async (_, value) => {
      const withMetadata = startOf({ run: { metadata: { value } as never } })
      await refuses(() => store().startRun(withMetadata))
      expect(await store().findRun(withMetadata.run.run_id)).toBeUndefined()
      expect(await store().findSession(withMetadata.run.session_id)).toBeUndefined()
      await refuses(() => store().startRun(startOf({ state: { value } as never })))
      const parts = [{ type: 'data', data: value }] as unknown as Message['parts']
      await refuses(() => store().startRun(withParts(parts)))
    })

    it.each(nonsense)('refuses events and an end that hold %s, and takes the run’s next end', async (_, value) => {
      const { runId } = await started(store())
      const event = { type: 'data', data: value, run_id: runId, seq: 2, at: at(1) } as unknown as RunEvent
      await refuses(() => store().appendEvents({ run_id: runId, fence: 1, events: [event], reserve_until: 2000 }))
      const parts = [{ type: 'data', data: value }] as unknown as Message['parts']
      const message: Message = {
        message_id: 'm',
        run_id: runId,
        role: 'assistant',
        parts,
        content: '',
        created_at: at(1),
      }
      const ends: Partial<RunEnd>[] = [{ events: [event] }, { messages: [message] }, { state: { value } as never }]
      for (const fields of ends) await refuses(() => store().finishRun(endOf(runId, { end_seq: 3, ...fields })))
      expect((await store().findRun(runId))?.status).toBe('running')
      expect(await store().finishRun(endOf(runId, { end_seq: 3 }))).toBe('ok')
      expect(await store().findRun(runId)).toMatchObject({ status: 'completed' })
    })

    it('survives a text that is none, and a start without anything in it', async () => {
      for (const text of [undefined, null, 5, {}]) {
        await Promise.allSettled([store().startRun(withParts([{ type: 'text', text } as never]))])
        const { runId } = await started(store())
        expect(await store().finishRun(endOf(runId))).toBe('ok')
      }
      await refuses(() => store().startRun({} as RunStart))
      await refuses(() =>
        store()
          .finishRun({} as RunEnd)
          .then((finished) => Promise.reject(new Error(finished))),
      )
    })
  })
}

function withParts(parts: Message['parts']): RunStart {
  const start = startOf({})
  const message = { ...(start.run.messages[0] as Message), parts }
  return { ...start, message, run: { ...start.run, messages: [message] } }
}
