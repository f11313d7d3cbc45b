import { expect, it } from 'vitest'
import { filePieceBytes, type NewFile } from '../../../../src/core/file.ts'
import { createId } from '../../../../src/core/id.ts'
import type { SessionStore } from '../../../../src/core/store.ts'
import { at, endOf, started } from '../../../contract/session-store/builders.ts'
import { describePostgres } from '../../../support/postgres/describe-postgres.ts'
import { storePair } from '../../../support/postgres/store-pair.ts'

describePostgres('files that two servers keep', () => {
  const { one, two, proxy, rows } = storePair()
  const newFile = (bytes: Uint8Array, fields: Partial<NewFile> = {}): NewFile => ({
    session_id: createId('ses'),
    run_id: createId('run'),
    media_type: 'text/plain',
    name: null,
    url: null,
    bytes,
    ...fields,
  })
  const kept = async (store: SessionStore, bytes: Uint8Array) => {
    const file = newFile(bytes)
    const { file_id } = await store.saveFile(file)
    await started(store, { run: { run_id: file.run_id, session_id: file.session_id } })
    await store.finishRun(endOf(file.run_id))
    return { ...file, file_id }
  }
  const whole = async (store: SessionStore, { session_id, file_id }: { session_id: string; file_id: string }) => {
    const pieces: Uint8Array[] = []
    for (;;) {
      const piece = await store.readFilePiece(session_id, file_id, pieces.length)
      if (piece === undefined) return Buffer.concat(pieces)
      pieces.push(piece)
    }
  }
  const names = async (store: SessionStore, { session_id, file_id }: { session_id: string; file_id: string }) =>
    (await store.findFile(session_id, file_id))?.file_id
  const instance = (owner: string) => ({
    owner,
    address: null,
    version: '1',
    entities: [],
    role: 'server' as const,
    deadAfterMs: 15_000,
  })

  it('have a content as long as one of them needs it, whoever saves and deletes at the same time', async () => {
    const contents = [1, 2, 3].map((n) => new Uint8Array(n === 3 ? 2 * filePieceBytes + 1 : 10).fill(n))
    const life = async (store: SessionStore, round: number) => {
      const bytes = contents[round % 3] as Uint8Array
      const file = await kept(store, bytes)
      expect((await whole(store, file)).equals(bytes)).toBe(true)
      await store.deleteSession(file.session_id)
    }
    const lives = async (store: SessionStore, from: number) => {
      for (let round = from; round < from + 6; round++) await life(store, round)
    }
    await Promise.all([lives(one(), 0), lives(two(), 0), lives(one(), 1), lives(two(), 2)])
    expect(await rows('SELECT hash FROM file_content UNION ALL SELECT hash FROM unused_content')).toEqual([])
  })

  it('are stored once when both save the same', async () => {
    const bytes = new Uint8Array(3 * filePieceBytes).fill(5)
    const files = await Promise.all([one(), two(), one(), two()].map((store) => kept(store, bytes)))
    expect(await rows('SELECT piece FROM file_content ORDER BY piece')).toEqual([0, 1, 2].map((piece) => ({ piece })))
    for (const file of files) expect((await whole(two(), file)).equals(bytes)).toBe(true)
  })

  it('are saved whole although the connection breaks', async () => {
    const bytes = new Uint8Array(3 * filePieceBytes).map((_, place) => place % 7)
    const lost = proxy().lose('answer', /INSERT INTO file_content/)
    const file = await kept(two(), bytes)
    await lost
    expect((await whole(one(), file)).equals(bytes)).toBe(true)
  })

  it('wait for their runs while the server that saved them is there', async () => {
    await one().cluster?.join(instance('one'))
    await two().cluster?.join(instance('two'))
    const [early, late, never] = [newFile(Buffer.from('a')), newFile(Buffer.from('b')), newFile(Buffer.from('c'))]
    const ids = new Map<NewFile, string>()
    for (const file of [early, late, never]) ids.set(file, (await one().saveFile(file)).file_id)
    const found = (file: NewFile) => names(two(), { session_id: file.session_id, file_id: ids.get(file) ?? '' })
    const begin = ({ run_id, session_id }: NewFile) => started(one(), { run: { run_id, session_id }, owner: 'one' })
    await begin(early)
    await two().recover('two', at(1))
    await begin(late)
    expect(await found(late)).toBe(ids.get(late))
    await one().cluster?.leave()
    await two().recover('two', at(2))
    expect([await found(early), await found(late)]).toEqual([ids.get(early), ids.get(late)])
    expect(await rows('SELECT file_id, owner FROM file ORDER BY file_id')).toEqual(
      [early, late]
        .map((file) => ({ file_id: ids.get(file), owner: null }))
        .sort((a, b) => ((a.file_id ?? '') < (b.file_id ?? '') ? -1 : 1)),
    )
    expect(await rows('SELECT count(*)::int AS count FROM file_content')).toEqual([{ count: 2 }])
  })

  it('wait a day at most', async () => {
    await one().cluster?.join(instance('one'))
    await one().saveFile(newFile(Buffer.from('a')))
    await two().recover('two', at(1))
    expect(await rows('SELECT 1 AS one FROM file')).toHaveLength(1)
    await rows(`UPDATE file SET saved_at = now() - interval '25 hours'`)
    await two().recover('two', at(1))
    expect(await rows('SELECT hash FROM file UNION ALL SELECT hash FROM file_content')).toEqual([])
  })
})
