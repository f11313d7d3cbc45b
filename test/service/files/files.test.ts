import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { usualLimits } from '../../../src/config/settings/limits.ts'
import type { FilePart, GivenPart } from '../../../src/core/message.ts'
import type { Emission, Runnable } from '../../../src/core/runnable.ts'
import type { RunBounds } from '../../../src/service/limits/run-budget.ts'
import { cachedStore } from '../../../src/store/cached/cached-store.ts'
import { memoryStore } from '../../../src/store/sessions/memory/store.ts'
import { sqliteStore } from '../../../src/store/sessions/sqlite/store.ts'
import { echo, openServices, request, runnable } from '../../support/services.ts'

const text = 'The moon is no cheese.'
const upload: GivenPart = { type: 'file', media_type: 'text/plain', name: 'a.txt', data: btoa(text) }

/** Says what the files of its input contain. */
const reader = runnable(async function* ({ parts }, { files }) {
  for (const part of parts) if (part.type === 'file') yield new TextDecoder().decode(await files.read(part))
})
const emitting = (...emissions: unknown[]) =>
  runnable(async function* () {
    for (const emission of emissions) yield emission as Emission
  })

describe.each(['memory', 'sqlite'])('files of runs, in %s', (kind) => {
  async function open(entities: Record<string, Runnable>, bounds?: RunBounds) {
    const folder = await mkdtemp(join(tmpdir(), 'agentserve-files-'))
    const store = kind === 'memory' ? memoryStore() : sqliteStore({ path: join(folder, 'agentserve.db') })
    const services = await openServices({ reader, echo, ...entities }, cachedStore(store), 30_000, bounds)
    onTestFinished(async () => {
      await services.runs.shutdown(0)
      await services.store.close()
      await rm(folder, { recursive: true, force: true })
    })
    const run = async (entityId: string, parts: GivenPart[], more = {}) =>
      (await services.runs.start(request(entityId, '', { parts, ...more }))).result()
    return { ...services, run }
  }

  it('stores the content of the input and records its id and size', async () => {
    const { run, store } = await open({})
    const ended = await run('reader', [{ type: 'text', text: 'see' }, upload], { sessionId: 's' })
    expect(ended).toMatchObject({ status: 'completed', session_id: 's' })
    expect(ended.messages[1]?.content).toBe(text)
    const [, part] = ended.messages[0]?.parts ?? []
    expect(part).toEqual({
      type: 'file',
      media_type: 'text/plain',
      name: 'a.txt',
      file_id: expect.stringMatching(/^file_/),
      size: text.length,
    })
    expect(await store.findRun(ended.run_id)).toEqual(ended)
    expect(JSON.stringify(ended)).not.toContain(btoa(text))
  })

  it('takes bytes, and an address as it is', async () => {
    const { run } = await open({})
    const bytes = { type: 'file' as const, media_type: 'text/plain', data: new TextEncoder().encode(text) }
    expect((await run('reader', [bytes])).messages[1]?.content).toBe(text)
    const elsewhere: FilePart = { type: 'file', media_type: 'image/png', url: 'https://example.com/a.png' }
    expect((await run('echo', [elsewhere])).messages[0]?.parts).toEqual([elsewhere])
  })

  it('keeps a file that the run emits before the event that names it', async () => {
    const { run, runs, store } = await open({ draws: emitting('Here: ', { ...upload, data: text }, upload) })
    const bad = await run('draws', [{ type: 'text', text: 'draw' }])
    expect(bad).toMatchObject({
      status: 'failed',
      error: { code: 'run_failed', message: 'The agent emitted a file whose `data` must be base64.' },
    })
    const draws = emitting('Here: ', upload, { ...upload, data: Buffer.from('more'), name: 'b.txt' })
    const good = await open({ draws })
    const ended = await good.run('draws', [{ type: 'text', text: 'draw' }])
    expect(ended.messages[1]?.parts).toEqual([
      { type: 'text', text: 'Here: ' },
      { type: 'file', media_type: 'text/plain', name: 'a.txt', file_id: expect.any(String), size: text.length },
      { type: 'file', media_type: 'text/plain', name: 'b.txt', file_id: expect.any(String), size: 4 },
    ])
    const events = await good.store.readEvents(ended.run_id, 0, 100)
    const { type, file_id, size } = events.find((event) => event.type === 'file') as FilePart
    expect({ type, size }).toEqual({ type: 'file', size: text.length })
    expect(JSON.stringify(events)).not.toContain(btoa(text))
    expect(Buffer.from((await good.store.readFilePiece(ended.session_id, file_id ?? '', 0)) ?? '').toString()).toBe(
      text,
    )
    expect(await store.listFiles(bad.run_id)).toEqual([])
    expect(runs.active).toBe(0)
  })

  it('passes on a file of its session, and no other', async () => {
    const passes = runnable(async function* ({ parts }) {
      yield parts[0] as FilePart
    })
    const { run } = await open({ passes, steals: emitting({ type: 'file', media_type: 'a/b', file_id: 'file_else' }) })
    const ended = await run('passes', [upload])
    expect(ended.messages[1]?.parts).toEqual(ended.messages[0]?.parts)
    expect((await run('steals', [{ type: 'text', text: '' }])).error?.message).toBe(
      "The agent emitted a file 'file_else' that the session does not have.",
    )
  })

  it('gives a child run the files of its parent, and keeps those that are given to it', async () => {
    const asks = runnable(async function* ({ parts }, context) {
      const input = { parts: [...parts, { ...upload, data: btoa('own') } as GivenPart], text: '' }
      const child = await context.child(context.entity('reader'), { entityId: 'reader', input })
      yield (await child.result()).messages[1]?.content ?? ''
    })
    const { run, store } = await open({ asks })
    const ended = await run('asks', [upload])
    expect(ended.messages[1]?.content).toBe(`${text}own`)
    const records = await store.readRecords(ended.session_id, undefined, 10)
    const child = records.find(({ parent_run_id }) => parent_run_id === ended.run_id)
    expect((await store.listFiles(child?.run_id ?? '')).map(({ size }) => size)).toEqual([3])
  })

  it('fails a child run that names a file of another session', async () => {
    const asks = runnable(async function* (_input, context) {
      const part: GivenPart = { type: 'file', media_type: 'a/b', file_id: 'file_else' }
      const call = { entityId: 'reader', input: { parts: [part], text: '' } }
      yield (await context.child(context.entity('reader'), call)).runId
    })
    const { run } = await open({ asks })
    expect((await run('asks', [{ type: 'text', text: '' }])).error?.message).toBe(
      "The input of a child run has a file 'file_else' that the session does not have.",
    )
  })

  it('leaves no files of a start that is refused or has a run already', async () => {
    const { run, store, sessions } = await open({})
    await sessions.create({ session_id: 's' })
    await expect(run('none', [upload], { sessionId: 's' })).rejects.toMatchObject({ code: 'agent_not_found' })
    await expect(run('reader', [upload], { sessionId: 'x', unknownSession: 'refuse' })).rejects.toMatchObject({
      code: 'session_not_found',
    })
    const idempotency = { key: 'k', hash: 'h' }
    const first = await run('reader', [upload], { sessionId: 's', idempotency })
    expect((await run('reader', [upload], { sessionId: 's', idempotency })).run_id).toBe(first.run_id)
    const recorded = await store.readRecords('s', undefined, 10)
    expect(recorded.map(({ run_id }) => run_id)).toEqual([first.run_id])
    expect(await store.listFiles(first.run_id)).toHaveLength(1)
  })

  const refusals: [string, object, object][] = [
    ['base64', { data: 'no base64!' }, { path: 'input.parts.1.data', message: 'must be base64' }],
    ['a byte too few', { data: 'aGVsb' }, { path: 'input.parts.1.data', message: 'must be base64' }],
    ['emptiness', { data: '' }, { path: 'input.parts.1.data', message: 'must not be empty' }],
    ['a number', { data: 5 }, { path: 'input.parts.1.data' }],
    ['a type with a line break', { media_type: 'a/b\r\nx: y' }, { path: 'input.parts.1.media_type' }],
    ['a type with many parameters', { media_type: `a/b${';c=""'.repeat(49)}!` }, { path: 'input.parts.1.media_type' }],
    ['a type without a slash', { media_type: 'png' }, { path: 'input.parts.1.media_type' }],
    ['an empty name', { name: '' }, { path: 'input.parts.1.name' }],
    ['both', { url: 'https://example.com' }, { path: 'input.parts.1.data' }],
    ['neither', { data: undefined }, { path: 'input.parts.1.data' }],
    ['file:', { data: undefined, url: 'file:///etc/passwd' }, { path: 'input.parts.1.url' }],
    ['no address', { data: undefined, url: 'example.com/a' }, { path: 'input.parts.1.url' }],
    ['a stored file', { data: undefined, file_id: 'file_1' }, { path: 'input.parts.1.file_id' }],
    ['a stored file beside data', { file_id: 'file_1' }, { path: 'input.parts.1.file_id' }],
  ]
  it.each(refusals)('refuses %s, with its path', async (_name, change, detail) => {
    const { run, store } = await open({})
    const parts = [{ type: 'text', text: 'x' } as GivenPart, { ...upload, ...change } as GivenPart]
    const error = { code: 'invalid_request', details: [expect.objectContaining(detail)] }
    await expect(run('reader', parts, { sessionId: 's' })).rejects.toMatchObject(error)
    expect(await store.findSession('s')).toBeUndefined()
  })

  it('refuses too many files, and one that is too large, before a run exists', async () => {
    const usual = usualLimits()
    const bounds = { ...usual, fileBytes: 8, run: { ...usual.run, files: 2 } }
    const { run, store } = await open({}, bounds)
    const small: GivenPart = { type: 'file', media_type: 'a/b', data: btoa('12345678') }
    await expect(run('reader', [small, small, small])).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringMatching(/3 files.*`run\.files` is 2.*`server\.limits\.run\.files`/),
    })
    await expect(run('reader', [{ ...small, data: btoa('123456789') } as GivenPart])).rejects.toMatchObject({
      code: 'payload_too_large',
      message: expect.stringMatching(/`fileSize` is 8 bytes.*`server\.limits\.fileSize`/),
      details: [{ path: 'input.parts.0.data', message: expect.any(String) }],
    })
    expect((await store.listRuns({}, { limit: 10 })).items).toEqual([])
    expect((await run('reader', [small, small])).status).toBe('completed')
  })

  it('fails a run that emits too many files, or one that is too large', async () => {
    const usual = usualLimits()
    const bounds = { ...usual, fileBytes: 8, run: { ...usual.run, files: 2 } }
    const small = { type: 'file', media_type: 'a/b', data: btoa('12345678') }
    const many = emitting(small, small)
    const large = emitting({ ...small, data: btoa('123456789') })
    const { run } = await open({ many, large }, bounds)
    expect((await run('many', [{ type: 'text', text: '' }])).status).toBe('completed')
    expect((await run('many', [small as GivenPart])).error).toMatchObject({
      code: 'run_limit',
      message: expect.stringContaining('`run.files` of 2'),
    })
    expect((await run('large', [{ type: 'text', text: '' }])).error).toMatchObject({
      code: 'run_limit',
      message: expect.stringContaining('`fileSize` of 8 bytes'),
    })
  })
})
