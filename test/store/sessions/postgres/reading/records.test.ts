import { expect, it } from 'vitest'
import { silentLogger } from '../../../../../src/core/logger.ts'
import { Pools } from '../../../../../src/store/postgres/pools.ts'
import { batchSource } from '../../../../../src/store/sessions/postgres/reading/batches.ts'
import { readRecord } from '../../../../../src/store/sessions/postgres/reading/records.ts'
import { postgresStore } from '../../../../../src/store/sessions/postgres/store.ts'
import { readBatches } from '../../../../../src/store/sessions/rows/batches.ts'
import { describePostgres } from '../../../../support/postgres/describe-postgres.ts'
import { testPostgres } from '../../../../support/postgres/test-postgres.ts'

const at = '2026-01-01T00:00:00.000Z'
const event = (seq: number, text: string) => ({ type: 'text_delta', seq, at, text, lengths: [text.length] })

describePostgres('a run in Postgres', () => {
  it('is read in the transaction that reads or changes it, with events of any size', async () => {
    const { url, newSchema } = await testPostgres()
    await using schema = newSchema()
    const store = postgresStore({ url, schema: schema.name })
    await store.open()
    await store.close()
    const pools = new Pools({ url, schema: schema.name, connections: 'direct', logger: silentLogger })
    const large = 'x'.repeat(300_000)
    await pools.work(async (sql) => {
      await sql.run(
        `INSERT INTO run (run_id, session_id, entity_id, entity_kind, status, unchecked, truncated, owner, fence, reserve_until,
           recorded_seq, started_at, begun, input, last_batch)
         VALUES ('r', 's', 'a', 'agent', 'running', true, true, 1, 1, 1000, 44, $1, $2, $3, $4)`,
        [
          at,
          JSON.stringify({ entity_kind: 'agent', created_at: at, metadata: { nul: '\u0000 \ud800' } }),
          JSON.stringify([['m', 'user', [{ type: 'text', text: 'secret' }], at]]),
          JSON.stringify([event(44, 'last')]),
        ],
      )
      for (let seq = 2; seq < 44; seq++) {
        await sql.run(`INSERT INTO event SELECT run_number, $1, $2 FROM run`, [
          seq,
          JSON.stringify([event(seq, seq === 7 ? large : `${seq}`)]),
        ])
      }
      const shown = await readRecord(sql, 'r')
      expect(shown).toMatchObject({ started_at: at, truncated: true, metadata: { nul: '\u0000 \ud800' } })
      expect(shown?.messages[0]?.content).not.toContain('secret')
      expect((await readRecord(sql, 'r', true))?.messages[0]?.content).toBe('secret')
      expect(await readRecord(sql, 'none')).toBeUndefined()
      const texts: string[] = []
      for await (const { events } of readBatches(batchSource(sql, 'r'), 3))
        for (const one of events) if (one.type === 'text_delta') texts.push(one.text)
      const said = Array.from({ length: 40 }, (_, index) => `${index + 4}`).with(3, large)
      expect(texts).toEqual([...said, 'last'])
    })
    await pools.close()
  })
})
