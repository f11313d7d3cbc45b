import { describe, expect, it, vi } from 'vitest'
import { invalid } from '../../../src/core/error.ts'
import { filePieceBytes, type NewFile } from '../../../src/core/file.ts'
import { createId } from '../../../src/core/id.ts'
import { refusedParts } from '../../../src/core/refusal.ts'
import type { RunRecord } from '../../../src/core/run.ts'
import type { RunPiece } from '../../../src/core/session.ts'
import type { SessionStore } from '../../../src/core/store.ts'
import { at, endOf, seedOf, started, startOf } from './builders.ts'

const bytesOf = (text: string) => new TextEncoder().encode(text)

export function testFiles(store: () => SessionStore): void {
  const newFile = (fields: Partial<NewFile> = {}): NewFile => ({
    session_id: createId('ses'),
    run_id: createId('run'),
    media_type: 'text/plain',
    name: 'a.txt',
    url: null,
    bytes: bytesOf('hello'),
    ...fields,
  })
  /** A file and, afterwards, the start of its run. */
  const kept = async (fields: Partial<NewFile> = {}) => {
    const file = newFile(fields)
    const { file_id } = await store().saveFile(file)
    await started(store(), { run: { run_id: file.run_id, session_id: file.session_id } })
    return { ...file, file_id }
  }
  const whole = async (sessionId: string, fileId: string) => {
    const pieces: Uint8Array[] = []
    for (;;) {
      const piece = await store().readFilePiece(sessionId, fileId, pieces.length)
      if (piece === undefined) return pieces.length === 0 ? undefined : new Uint8Array(Buffer.concat(pieces))
      pieces.push(piece)
    }
  }

  describe('files', () => {
    it('gives a file back as it was saved, once its run has started', async () => {
      const file = newFile({ bytes: new Uint8Array([0, 1, 254, 255]) })
      const saved = await store().saveFile(file)
      expect(saved).toEqual({ file_id: expect.stringMatching(/^file_[0-9a-z]{26}$/), size: 4 })
      expect(await store().findFile(file.session_id, saved.file_id)).toBeUndefined()
      expect(await whole(file.session_id, saved.file_id)).toBeUndefined()
      await started(store(), { run: { run_id: file.run_id, session_id: file.session_id } })
      const { bytes, ...fields } = file
      const stored = { ...fields, ...saved, unchecked: false }
      expect(await store().findFile(file.session_id, saved.file_id)).toEqual(stored)
      expect(await store().listFiles(file.run_id)).toEqual([stored])
      expect(await whole(file.session_id, saved.file_id)).toEqual(bytes)
    })

    it('keeps a large file in pieces, and an empty one', async () => {
      const bytes = new Uint8Array(2 * filePieceBytes + 1).map((_, place) => place % 251)
      const large = await kept({ bytes })
      expect(await whole(large.session_id, large.file_id)).toEqual(bytes)
      expect((await store().readFilePiece(large.session_id, large.file_id, 2))?.byteLength).toBe(1)
      expect(await store().readFilePiece(large.session_id, large.file_id, 3)).toBeUndefined()
      const empty = await kept({ bytes: new Uint8Array(0) })
      expect(await store().findFile(empty.session_id, empty.file_id)).toMatchObject({ size: 0 })
      expect(await whole(empty.session_id, empty.file_id)).toEqual(new Uint8Array(0))
    })

    it('knows a file in its own session only', async () => {
      const { session_id, file_id } = await kept()
      const other = await kept({ bytes: bytesOf('other') })
      expect(await store().findFile(other.session_id, file_id)).toBeUndefined()
      expect(await store().readFilePiece(other.session_id, file_id, 0)).toBeUndefined()
      expect(await store().findFile(session_id, 'file_none')).toBeUndefined()
      expect(await store().listFiles('run_none')).toEqual([])
    })

    it('finds no file whose run belongs to another session', async () => {
      const { run_id } = await kept()
      const stray = newFile({ run_id })
      const { file_id } = await store().saveFile(stray)
      expect(await store().findFile(stray.session_id, file_id)).toBeUndefined()
    })

    it('gives equal contents an id of their own, and keeps the content while one has it', async () => {
      const [one, two] = [await kept(), await kept()]
      expect(one.file_id).not.toBe(two.file_id)
      await store().finishRun(endOf(one.run_id))
      await store().deleteSession(one.session_id)
      expect(await store().findFile(one.session_id, one.file_id)).toBeUndefined()
      const three = await kept()
      for (const { session_id, file_id } of [two, three])
        expect(await whole(session_id, file_id)).toEqual(bytesOf('hello'))
    })

    it('keeps equal contents that are saved and deleted at the same time', async () => {
      const bytes = new Uint8Array(3 * filePieceBytes).fill(7)
      const first = await kept({ bytes })
      await store().finishRun(endOf(first.run_id))
      const [two, three] = await Promise.all([
        kept({ bytes }),
        kept({ bytes }),
        store().deleteSession(first.session_id),
      ])
      for (const { session_id, file_id } of [two, three]) expect(await whole(session_id, file_id)).toEqual(bytes)
    })

    it('finds what was fetched from an address in the session', async () => {
      const url = 'https://example.com/a.png'
      const { session_id, file_id } = await kept({ url })
      expect(await store().findFetched(session_id, url)).toMatchObject({ file_id, url })
      expect(await store().findFetched(session_id, `${url}?`)).toBeUndefined()
      expect(await store().findFetched('other', url)).toBeUndefined()
    })

    it('drops the files of a run that was not started, and no others', async () => {
      const refused = newFile()
      const { file_id } = await store().saveFile(refused)
      await store().dropFiles(refused.run_id)
      await started(store(), { run: { run_id: refused.run_id, session_id: refused.session_id } })
      expect(await store().findFile(refused.session_id, file_id)).toBeUndefined()
      const present = await kept()
      await store().dropFiles(present.run_id)
      expect(await store().findFile(present.session_id, present.file_id)).toBeDefined()
    })

    it('deletes at recovery what no run names', async () => {
      const left = newFile()
      const { file_id } = await store().saveFile(left)
      const present = await kept()
      await store().recover('two', at(9))
      await started(store(), { run: { run_id: left.run_id, session_id: left.session_id } })
      expect(await store().findFile(left.session_id, file_id)).toBeUndefined()
      expect(await whole(present.session_id, present.file_id)).toEqual(bytesOf('hello'))
    })

    it('deletes files with their session, pruned ones too', async () => {
      const [one, two] = [await kept({ session_id: 'one' }), await kept({ session_id: 'two' })]
      for (const { run_id } of [one, two]) await store().finishRun(endOf(run_id))
      await store().deleteSession('one')
      expect(await store().prune({ olderThan: at(50) }, 10)).toBe(1)
      for (const { session_id, run_id, file_id } of [one, two]) {
        await vi.waitFor(() => started(store(), { run: { run_id, session_id } }), { timeout: 10_000 })
        expect(await store().findFile(session_id, file_id)).toBeUndefined()
      }
    })

    it("deletes the files of an erased user's runs in other sessions", async () => {
      await store().createSession(seedOf({ session_id: 'shared', user_id: 'other' }))
      const files = []
      for (const user_id of ['u', 'other']) {
        const file = newFile({ session_id: 'shared' })
        const { file_id } = await store().saveFile(file)
        await started(store(), { run: { run_id: file.run_id, session_id: 'shared', user_id }, session: null })
        await store().finishRun(endOf(file.run_id))
        files.push(file_id)
      }
      while ((await store().eraseUser('u', 10)) > 0);
      expect(await store().findFile('shared', files[0] ?? '')).toBeUndefined()
      expect(await store().findFile('shared', files[1] ?? '')).toBeDefined()
    })

    it('marks the files of unchecked input, and deletes those of refused input', async () => {
      const input = newFile()
      const made = { ...input, name: 'made.txt' }
      const fetched = { ...input, url: 'https://example.com/' }
      const [first, second, third] = [
        await store().saveFile(input),
        await store().saveFile(made),
        await store().saveFile(fetched),
      ]
      const { session_id, run_id } = input
      const start = startOf({ run: { run_id, session_id } })
      start.message.parts = [{ type: 'file', media_type: 'text/plain', ...first }]
      await store().startRun({ ...start, unchecked: true })
      expect(await store().findFile(session_id, first.file_id)).toMatchObject({ unchecked: true })
      expect(await whole(session_id, first.file_id)).toEqual(bytesOf('hello'))
      await store().finishRun(endOf(run_id, { refused: [run_id] }))
      expect((await store().findRun(run_id))?.messages).toMatchObject([{ parts: refusedParts() }])
      expect(await store().findFile(session_id, first.file_id)).toBeUndefined()
      expect(await store().findFile(session_id, second.file_id)).toMatchObject({ name: 'made.txt', unchecked: false })
      expect(await store().findFile(session_id, third.file_id)).toBeUndefined()
    })

    it('restores files with a copy, and none of a copy that fails', async () => {
      const origin = await kept({ session_id: 'origin' })
      await store().finishRun(endOf(origin.run_id))
      const [run] = await store().readRecords('origin', undefined, 1)
      const { session } = (await store().findSession('origin')) ?? {}
      if (run === undefined || session === undefined) throw new Error('There is nothing to copy.')
      const { runs: _runs, run_count: _count, summary: _summary, ...seed } = session
      const large = new Uint8Array(2 * filePieceBytes + 5).fill(3)
      const contents = [bytesOf('hello'), large, new Uint8Array(0)]
      const copyOf = (session_id: string, fails: boolean) => {
        const run_id = createId('run')
        async function* runs(): AsyncGenerator<RunPiece> {
          yield { run: { ...run, run_id, session_id } as RunRecord }
          for (const [place, bytes] of contents.entries()) {
            yield { run_id, file: { file_id: `file_${place}`, media_type: 'a/b', name: null, url: null, bytes } }
          }
          if (fails) throw invalid('It is cut off.')
        }
        return { session: { ...seed, session_id }, summary: null, runs: runs() }
      }
      await expect(store().restoreSession(copyOf('cut', true))).rejects.toThrow('It is cut off.')
      await store().restoreSession(copyOf('copy', false))
      for (const [place, bytes] of contents.entries()) {
        expect(await whole('copy', `file_${place}`)).toEqual(bytes)
        expect(await whole('cut', `file_${place}`)).toBeUndefined()
      }
      await store().deleteSession('origin')
      expect(await whole('copy', 'file_0')).toEqual(bytesOf('hello'))
    })

    it('shows the files of input that passed its check', async () => {
      const input = newFile()
      const { file_id } = await store().saveFile(input)
      await store().startRun({
        ...startOf({ run: { run_id: input.run_id, session_id: input.session_id } }),
        unchecked: true,
      })
      await store().finishRun(endOf(input.run_id, { checked: true }))
      expect(await store().findFile(input.session_id, file_id)).toMatchObject({ unchecked: false })
    })
  })
}
