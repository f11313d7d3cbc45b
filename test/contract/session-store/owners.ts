import { describe, expect, it } from 'vitest'
import type { SessionStore } from '../../../src/core/store.ts'
import { searchWordsOf } from '../../../src/core/text/message-search.ts'
import { allPages, at, endOf, seedOf, started } from './builders.ts'

const lists = {
  agent_id: 'agent_ids',
  team_id: 'team_ids',
  workflow_id: 'workflow_ids',
  user_id: 'user_ids',
} as const
type Kind = keyof typeof lists
type Owners = { [K in Kind]?: string }
const kinds = Object.keys(lists) as Kind[]

/** The owners of each session, from the first on: the same ids in every kind, so that no kind may be taken for another. */
const histories: Owners[][] = [
  [{ user_id: 'x', agent_id: 'x' }, { user_id: 'y' }],
  [{ user_id: 'y', agent_id: 'y' }, { agent_id: 'x' }, { agent_id: 'z' }],
  [{ user_id: 'y', team_id: 'x' }, { user_id: 'x' }, { team_id: 'y' }],
  [{ workflow_id: 'x' }, { workflow_id: 'y', user_id: 'z' }],
  [{ user_id: 'x' }],
  [{ agent_id: 'x', team_id: 'y' }],
  [{}, { user_id: 'y', workflow_id: 'x' }],
  [{ team_id: 'x' }, { team_id: 'y' }, { team_id: 'x' }],
]

const filters: Owners[] = ['x', 'y'].flatMap((one) =>
  kinds.flatMap((kind, place) => [
    ...kinds.slice(place + 1).flatMap((other) => ['x', 'y'].map((two) => ({ [kind]: one, [other]: two }))),
    { [kind]: one },
  ]),
)

const isOf = (history: Owners[], filter: Owners) =>
  kinds.every((kind) => filter[kind] === undefined || history.some((owners) => owners[kind] === filter[kind]))
const idsOf = (filter: Owners) => histories.flatMap((history, n) => (isOf(history, filter) ? [`s${n}`] : [])).sort()

export function testOwners(store: () => SessionStore): void {
  /** `copied`: as the copies of others, which are shared once more. */
  async function fill(copied: boolean): Promise<void> {
    for (const [n, history] of histories.entries()) {
      const id = `s${n}`
      const [first, ...later] = history
      await store().createSession(seedOf({ session_id: id, ...first }))
      for (const [place, owners] of later.entries()) {
        if (copied && place === later.length - 1) await copy(id)
        await store().shareSession(id, owners, at(place + 1))
      }
      const { runId } = await started(store(), { run: { session_id: `s${n}` }, session: null, text: 'plum' })
      await store().finishRun(endOf(runId))
    }
  }

  async function copy(id: string): Promise<void> {
    const { session } = (await store().findSession(id)) ?? {}
    if (session === undefined) throw new Error(`There is no session ${id}.`)
    await store().deleteSession(id)
    await store().restoreSession({ session, summary: null, runs: (async function* () {})() })
  }

  describe.each([
    ['sessions', false],
    ['copies of sessions', true],
  ])('owners of %s', (_name, copied) => {
    it('are the last of each kind, and the earlier ones in their order', async () => {
      await fill(copied)
      for (const [n, history] of histories.entries()) {
        const { session } = (await store().findSession(`s${n}`)) ?? {}
        for (const kind of kinds) {
          const all = history.flatMap((owners) => owners[kind] ?? [])
          const present = all.at(-1) ?? null
          expect([n, kind, session?.[kind]]).toEqual([n, kind, present])
          expect([n, kind, session?.shared_with[lists[kind]]]).toEqual([n, kind, all.filter((id) => id !== present)])
        }
      }
    })

    it('decide what is listed and what is found', async () => {
      await fill(copied)
      const words = searchWordsOf('plum')
      for (const filter of filters) {
        const pages = await allPages((cursor) => store().listSessions(filter, { limit: 2, cursor }))
        const listed = pages.flat().map(({ session_id }) => session_id)
        expect([filter, listed.sort()]).toEqual([filter, idsOf(filter)])
        const { items } = await store().searchMessages({ words, ...filter }, { limit: 100 })
        expect([filter, items.map(({ session_id }) => session_id).sort()]).toEqual([filter, idsOf(filter)])
      }
    })

    it('decide what is pruned', async () => {
      await fill(copied)
      const left = new Set(histories.keys().map((n) => `s${n}`))
      for (const filter of filters) {
        const due = idsOf(filter).filter((id) => left.has(id))
        expect([filter, await store().prune({ olderThan: at(100), filter }, 100)]).toEqual([filter, due.length])
        for (const id of due) left.delete(id)
        const { items } = await store().listSessions({}, { limit: 100 })
        expect(new Set(items.map(({ session_id }) => session_id))).toEqual(left)
      }
    })
  })
}
