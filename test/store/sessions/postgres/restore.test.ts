import { expect, it } from 'vitest'
import { filePieceBytes } from '../../../../src/core/file.ts'
import type { RunRecord } from '../../../../src/core/run.ts'
import type { RunPiece, SessionCopy } from '../../../../src/core/session.ts'
import type { SessionStore } from '../../../../src/core/store.ts'
import { at, endOf, messageOf, seedOf, started, startOf, textEvents } from '../../../contract/session-store/builders.ts'
import { describePostgres } from '../../../support/postgres/describe-postgres.ts'
import { storePair } from '../../../support/postgres/store-pair.ts'

const session_id = 'copied'
const large = 'words of a run '.repeat(50_000)

/** A copy with large runs, events and files; `between` is called before its last run. */
function copyOf(between: () => Promise<void> = async () => {}, prefix = 'run'): SessionCopy {
  const run = (n: number): RunRecord => {
    const run_id = `${prefix}_${n}`
    const { run } = startOf({ run: { run_id, session_id, status: 'completed', end_seq: 9, completed_at: at(n) } })
    return { ...run, messages: [messageOf(run_id, 'user', large)] }
  }
  async function* runs(): AsyncGenerator<RunPiece> {
    for (let n = 0; n < 6; n++) {
      if (n === 5) await between()
      const { run_id } = run(n)
      yield { run: run(n) }
      yield { run_id, events: textEvents(run_id, 2, ['a', 'b', 'c']) }
      const bytes = new Uint8Array(n === 1 ? 2 * filePieceBytes : 5).fill(n)
      yield { run_id, file: { file_id: `file_${n}`, media_type: 'a/b', name: null, url: null, bytes } }
    }
  }
  const shared_with = { agent_ids: [], team_ids: [], workflow_ids: [], user_ids: ['ann'] }
  const session = { ...seedOf({ session_id, user_id: 'bob' }), updated_at: at(9), shared_with }
  return { session, summary: null, runs: runs() }
}

describePostgres('a copy that is restored in Postgres', () => {
  const { one, two, proxy, rows } = storePair()
  const tables = ['session', 'run', 'event', 'session_owner', 'session_usage', 'file', 'file_content', 'unused_content']
  const left = async () =>
    (
      await rows<{ name: string }>(
        tables.map((name) => `SELECT DISTINCT '${name}' AS name FROM ${name}`).join(' UNION '),
      )
    )
      .map(({ name }) => name)
      .sort()
  async function expectWhole(store: SessionStore) {
    expect((await store.findSession(session_id))?.session).toMatchObject({ run_count: 6, updated_at: at(9) })
    const records = await store.readRecords(session_id, undefined, 10)
    expect(records.map(({ run_id }) => run_id)).toEqual([0, 1, 2, 3, 4, 5].map((n) => `run_${n}`))
    expect(records[3]?.messages[0]?.content).toBe(large)
    expect((await store.readEvents('run_4', 0, 10)).filter(({ type }) => type === 'text_delta')).toHaveLength(3)
    expect((await store.readFilePiece(session_id, 'file_1', 1))?.byteLength).toBe(filePieceBytes)
    expect(await rows('SELECT 1 FROM file WHERE owner IS NOT NULL')).toEqual([])
  }

  it('lets nobody wait while its sender is slow', async () => {
    const between = async () => {
      await started(one(), { session: seedOf({ session_id: 'other' }) })
      const same = { run_id: 'x', media_type: 'a/b', name: null, url: null, bytes: new Uint8Array(5) }
      await one().saveFile({ ...same, session_id: 'other' })
      await one().dropFiles('x')
      expect(await one().createSession(seedOf({ session_id: 'third' }))).toHaveProperty('session')
      expect(await one().deleteSession(session_id)).toBe(false)
      expect(await one().prune({ maxSessions: 1 }, 10)).toBe(1)
    }
    await two().restoreSession(copyOf(between))
    await expectWhole(one())
  })

  it('gives way to a session that was created meanwhile, and leaves nothing of itself', async () => {
    const between = async () => {
      await started(one(), { run: { run_id: 'own', session_id } })
    }
    await expect(two().restoreSession(copyOf(between))).rejects.toMatchObject({ code: 'conflict' })
    expect((await one().readRecords(session_id, undefined, 10)).map(({ run_id }) => run_id)).toEqual(['own'])
    expect(await left()).toEqual(['run', 'session'])
  })

  it('is restored once when two servers have it', async () => {
    const results: unknown[] = []
    const between = async () => {
      results.push(
        await one()
          .restoreSession(copyOf())
          .catch(({ code }) => code),
      )
    }
    await two().restoreSession(copyOf(between))
    expect(results).toEqual(['conflict'])
    await expectWhole(one())
  })

  it('leaves nothing when the connection breaks, and may be sent again', async () => {
    const between = async () => proxy().cut()
    await expect(two().restoreSession(copyOf(between))).rejects.toMatchObject({ code: 'unavailable' })
    expect(await left()).toEqual([])
    await two().restoreSession(copyOf())
    await expectWhole(one())
  })

  it('leaves nothing when its process dies, as soon as another one has recovered', async () => {
    const between = async () => {
      await proxy().refuse()
      proxy().cut()
    }
    await expect(two().restoreSession(copyOf(between))).rejects.toMatchObject({ code: 'unavailable' })
    expect(await left()).toEqual(['file', 'file_content'])
    expect(await one().findFile(session_id, 'file_1')).toBeUndefined()
    // Its files are in the way of nobody.
    await one().restoreSession(copyOf())
    await expectWhole(one())
    await one().deleteSession(session_id)
    await one().recover('one', at(1))
    expect(await left()).toEqual([])
  })

  it('is recognised when the answer to the commit was lost', async () => {
    let lost: Promise<void> | undefined
    const head = () => {
      lost = proxy().lose('answer', /COMMIT/)
      return copy
    }
    const copy = copyOf()
    expect(await two().restoreSession(copy, head)).toMatchObject({ session: { session_id } })
    await lost
    await expectWhole(one())
  })

  it('is refused whole when one of its runs is there already', async () => {
    const { runId } = await started(one(), { run: { run_id: 'run_5', session_id: 'other' } })
    await expect(two().restoreSession(copyOf())).rejects.toMatchObject({
      code: 'conflict',
      message: "Run 'run_5' already exists.",
    })
    expect(await one().finishRun(endOf(runId))).toBe('ok')
    await one().deleteSession('other')
    expect(await left()).toEqual([])
  })
})
