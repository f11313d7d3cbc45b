import { expect, test } from 'vitest'
import type { AuditEntry } from '../../../../src/core/access/audit.ts'
import type { Instance } from '../../../support/cluster/instances.ts'
import { ownInstances } from '../../../support/cluster/own-instances.ts'
import { ask } from '../../../support/cluster/requests.ts'
import { describePostgres } from '../../../support/postgres/describe-postgres.ts'

describePostgres('the audit log of three instances', () => {
  let [a, b, c] = [] as unknown as [Instance, Instance, Instance]
  ownInstances({ names: ['a', 'b', 'c'] }, (all) => {
    ;[a, b, c] = all
  })

  const entriesAt = async ({ url }: Instance, query: string): Promise<AuditEntry[]> => {
    const { status, body } = await ask(url, `/audit?${query}`)
    expect(status).toBe(200)
    return body.entries
  }

  test('is one, also with what a killed instance has said to be done, and each act is in it once', async () => {
    const ids = ['one', 'two', 'three'].map((name) => `audited-${name}`)
    for (const id of ids) expect((await ask(a.url, '/sessions', { body: { session_id: id } })).status).toBe(201)
    const answers = await Promise.all(
      [a, b, c].map(({ url }, index) => ask(url, `/sessions/${ids[index]}`, { method: 'DELETE' })),
    )
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    await b.kill()
    const expected = ids.map((id) => ['session.delete', id, 'ok'])
    for (const instance of [a, c]) {
      const entries = await entriesAt(instance, 'action=session.delete&limit=100')
      const told = entries.map(({ action, object_id, outcome }) => [action, object_id, outcome])
      expect(told.toSorted()).toEqual(expected.toSorted())
    }
    await b.start()
    expect(await entriesAt(b, 'limit=100')).toEqual(await entriesAt(a, 'limit=100'))
  })
})
