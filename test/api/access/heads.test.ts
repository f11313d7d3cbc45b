import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ServerConfig } from '../../../src/config/types.ts'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { type As, api, type People, withPeople } from './people.ts'

/* Lists of sessions: heads, filters by status and totals, for operators, users and former users. */

const ways: [string, ServerConfig][] = [
  ['SQLite', {}],
  ['memory', { sessionStorage: 'memory' }],
]
const failing = agent({
  run: () => {
    throw new Error('No.')
  },
})

describe.each(ways)('heads of sessions, with %s', (_way, config) => {
  let people: People
  let [ann, bob]: [As, As] = [] as never
  beforeAll(async () => {
    people = await withPeople(['ann', 'bob'], config, { failing })
    ;[ann, bob] = [people.as('ann'), people.as('bob')]
  })
  afterAll(() => people.server.close())

  const listed = async (as: As, query = '') => {
    const { status, json } = await as('GET', `${api}/sessions?view=head&limit=100&total=true${query}`)
    expect([status, json.error]).toEqual([200, undefined])
    return json as { sessions: Record<string, unknown>[]; count: number; total: number }
  }
  const headOf = async (as: As, id: string, query = '') =>
    (await listed(as, query)).sessions.find(({ session_id }) => session_id === id)
  const open = async (as: As, more: object = {}) =>
    (await as('POST', `${api}/sessions`, more)).json.session_id as string
  const say = (as: As, session_id: string, agentId: string, input: string) =>
    as('POST', `${api}/agents/${agentId}/run`, { input, session_id })

  test('a head has what a list shows, and nothing of state and metadata', async () => {
    const id = await open(ann, { name: 'Named', state: { private: 1 }, metadata: { private: 2 } })
    await say(ann, id, 'docs', 'The first\nquestion')
    await say(ann, id, 'asking', 'May I?')
    const head = await headOf(ann, id)
    expect(head).toEqual({
      session_id: id,
      name: 'Named',
      title: 'The first question',
      entity_id: 'asking',
      entity_kind: 'agent',
      user_id: 'ann',
      run_count: 2,
      status: 'input_required',
      waiting: 1,
      usage: null,
      usage_by_model: [expect.objectContaining({ model: 'offline', total_tokens: 0 })],
      cost: { usd: 0, as_of: null, local: true },
      forked_from: null,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    })
    const fork = (await ann('POST', `${api}/sessions/${id}/fork`)).json
    expect(await headOf(ann, fork.session_id)).toMatchObject({ forked_from: { session_id: id } })
  })

  test('a status finds the sessions whose last turn has it, in both views and in the total', async () => {
    const [waiting, failed] = [await open(bob), await open(bob)]
    await say(bob, waiting, 'asking', 'x')
    await say(bob, failed, 'failing', 'x')
    for (const [status, id] of [
      ['input_required', waiting],
      ['failed', failed],
    ] as const) {
      const heads = await listed(bob, `&status=${status}`)
      expect([heads.total, heads.sessions.map(({ session_id }) => session_id)]).toEqual([1, [id]])
      const whole = (await bob('GET', `${api}/sessions?status=${status}&total=true`)).json
      expect([whole.total, whole.sessions[0].session_id, whole.sessions[0].runs.length]).toEqual([1, id, 1])
    }
    const page = (await bob('GET', `${api}/sessions?view=head&limit=1&total=true`)).json
    expect([page.count, page.total, page.next_cursor === null]).toEqual([1, 2, false])
    expect((await bob('GET', `${api}/sessions`)).json).not.toHaveProperty('total')
    expect((await bob('GET', `${api}/sessions?status=none`)).status).toBe(400)
    expect((await bob('GET', `${api}/sessions?view=other`)).status).toBe(400)
  })

  test('a user sees and counts no session of another', async () => {
    const id = await open(bob, { name: 'of bob' })
    expect(await headOf(ann, id)).toBeUndefined()
    expect(await listed(ann, '&user_id=bob')).toMatchObject({ sessions: [], total: 0 })
    const [mine, all] = [await listed(ann), await listed(people.operator)]
    expect(mine.sessions.every(({ user_id }) => user_id === 'ann')).toBe(true)
    expect(mine.total).toBe(mine.sessions.length)
    expect(all.total).toBeGreaterThan(mine.total)
    expect((await listed(people.operator, '&user_id=ann')).total).toBe(mine.total)
  })

  test('a former user gets the head as it was, and is not found by what came later', async () => {
    const id = await open(ann, { name: 'early name' })
    await say(ann, id, 'echo', 'early words')
    const early = await headOf(ann, id)
    await people.operator('POST', `${api}/sessions/${id}/reuse`, { user_id: 'bob' })
    await say(bob, id, 'failing', 'hidden words')
    await bob('PUT', `${api}/sessions/${id}`, { name: 'hidden name' })
    expect(await headOf(bob, id)).toMatchObject({ name: 'hidden name', status: 'failed', run_count: 2 })
    expect(await headOf(ann, id)).toMatchObject({
      name: null,
      title: 'early words',
      entity_id: 'echo',
      status: 'completed',
      run_count: 1,
      usage: early?.usage,
    })
    for (const view of ['', '&view=head']) {
      const by = async (status: string) =>
        (await ann('GET', `${api}/sessions?limit=100&total=true&status=${status}${view}`)).json
      const [completed, failed] = [await by('completed'), await by('failed')]
      const ids = ({ sessions }: { sessions: { session_id: string }[] }) => sessions.map((one) => one.session_id)
      expect([view, ids(completed).includes(id), ids(failed).includes(id)]).toEqual([view, true, false])
      expect([view, completed.total, failed.total]).toEqual([view, ids(completed).length, ids(failed).length])
    }
    expect(JSON.stringify(await listed(ann))).not.toContain('hidden')
    await bob('DELETE', `${api}/sessions/${id}/shared/user/ann`)
    expect(await headOf(ann, id)).toBeUndefined()
  })
})
