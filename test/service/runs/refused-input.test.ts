import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { RunContext, Runnable } from '../../../src/core/runnable.ts'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { runContext } from '../../../src/runnables/base/run-context.ts'
import { team } from '../../../src/runnables/team/team.ts'
import { cachedStore } from '../../../src/store/cached/cached-store.ts'
import { memoryStore } from '../../../src/store/sessions/memory/store.ts'
import { sqliteStore } from '../../../src/store/sessions/sqlite/store.ts'
import { answer, scripted } from '../../runnables/fixture.ts'
import { collect, openServices, request } from '../../support/services.ts'

const secret = 'hunter2unmistakable'
const refused = [{ type: 'data', data: { refused: true } }]
const unchecked = [{ type: 'data', data: { unchecked: true } }]

/** A check that says when it has begun, and never ends. */
const forever = (begun: PromiseWithResolvers<void>) => () => {
  begun.resolve()
  return new Promise<undefined>(() => {})
}

const noSecrets = ({ text }: { text: string }) => (text.includes(secret) ? { refuse: 'Not that.' } : undefined)

describe.each(['memory', 'sqlite'])('input that a guardrail refused, in %s', (kind) => {
  async function open(entities: Record<string, Runnable>) {
    const folder = await mkdtemp(join(tmpdir(), 'agentserve-refused-'))
    const path = join(folder, 'agentserve.db')
    const store = kind === 'memory' ? memoryStore() : sqliteStore({ path })
    const services = await openServices(entities, cachedStore(store))
    onTestFinished(async () => {
      await services.store.close()
      await rm(folder, { recursive: true, force: true })
    })
    const ask = async (entityId: string, text: string, more = {}) => {
      const handle = await services.runs.start(request(entityId, text, more))
      return { run: await handle.result(), events: await collect(handle.events(0)) }
    }
    /** Everything that can be read of it. */
    const told = async (sessionId: string) =>
      JSON.stringify([
        await services.store.readHistory(sessionId, 100),
        await services.store.readRecords(sessionId, undefined, 100),
        ...(await Promise.all(
          (
            await services.store.readRecords(sessionId, undefined, 100)
          ).map(({ run_id }) => services.store.readEvents(run_id, 0, 1000)),
        )),
      ])
    const find = async (word: string) =>
      (await services.store.searchMessages({ words: [{ word, isBeginning: false }] }, { limit: 10 })).items
    return { ...services, ask, told, find, path, sqlite: kind === 'sqlite' }
  }

  it('is in no message, no event, no search and no later prompt', async () => {
    const model = scripted(answer('hello'), answer('again'))
    const { ask, told, find, store } = await open({ it: agent({ model, guardrails: { input: noSecrets } }) })
    const first = await ask('it', 'plain words', { sessionId: 's' })
    const { run } = await ask('it', `my password is ${secret}`, { sessionId: 's' })
    expect(run).toMatchObject({
      status: 'completed',
      messages: [
        { role: 'user', parts: refused, content: JSON.stringify({ refused: true }) },
        { content: 'Not that.' },
      ],
    })
    expect(await store.findRun(run.run_id)).toEqual(run)
    expect(await told('s')).not.toContain(secret)
    expect(await find(secret)).toEqual([])
    expect(await find('words')).toMatchObject([{ run_id: first.run.run_id }])
    expect(await find('not')).toMatchObject([{ run_id: run.run_id }])
    await ask('it', 'more', { sessionId: 's' })
    const prompt = JSON.stringify(model.doStreamCalls[1]?.prompt)
    expect(prompt).toContain('plain words')
    expect(prompt).not.toMatch(new RegExp(`${secret}|refused|Not that`))
    expect((await store.findRun(first.run.run_id))?.messages[0]?.content).toBe('plain words')
  })

  it('is hidden while it is being checked, and seen once it has passed', async () => {
    const checking = Promise.withResolvers<void>()
    const may = Promise.withResolvers<void>()
    const going = Promise.withResolvers<void>()
    const on = Promise.withResolvers<void>()
    const slow = async () => {
      checking.resolve()
      await may.promise
    }
    const entity = agent({
      async *run() {
        yield 'x'.repeat(5000)
        await (runContext() as RunContext).recorded()
        going.resolve()
        await on.promise
      },
      guardrails: { input: slow },
    })
    const { runs, store, find, told } = await open({ it: entity })
    const handle = await runs.start(request('it', 'a harmless thing', { sessionId: 's' }))
    await checking.promise
    expect((await store.findRun(handle.runId))?.messages[0]?.parts).toEqual(unchecked)
    expect((await store.readHistory('s', 5)).runs[0]?.messages[0]?.parts).toEqual(unchecked)
    expect(await find('harmless')).toEqual([])
    may.resolve()
    await going.promise
    expect((await store.findRun(handle.runId))?.messages[0]?.content).toBe('a harmless thing')
    on.resolve()
    await handle.result()
    expect((await store.readHistory('s', 5)).runs[0]?.messages[0]?.content).toBe('a harmless thing')
    expect(await told('s')).not.toContain('unchecked')
    expect(await find('harmless')).toHaveLength(1)
  })

  it('is not kept when the check fails, or the run is cancelled before it is checked', async () => {
    const checking = Promise.withResolvers<void>()
    const broken = agent({ run: () => 'x', guardrails: { input: () => Promise.reject(new Error('gone')) } })
    const waiting = agent({
      run: () => 'x',
      guardrails: { input: forever(checking) },
    })
    const { runs, store, ask } = await open({ broken, waiting })
    const { run } = await ask('broken', secret)
    expect(run).toMatchObject({ status: 'failed', messages: [{ parts: refused }] })
    const handle = await runs.start(request('waiting', secret, { sessionId: 'w' }))
    const behind = await runs.start(request('waiting', `${secret} too`, { sessionId: 'w', mode: 'background' }))
    await checking.promise
    await runs.cancel(behind.runId)
    await runs.cancel(handle.runId)
    for (const run_id of [handle.runId, behind.runId]) {
      expect(await store.findRun(run_id)).toMatchObject({ status: 'cancelled', messages: [{ parts: refused }] })
    }
  })

  it('goes from runs whose process died, and a run that waits is checked by the next', async () => {
    const checking = Promise.withResolvers<void>()
    const waiting = agent({
      run: () => 'x',
      guardrails: { input: forever(checking) },
    })
    const first = await open({ it: waiting })
    const died = await first.runs.start(request('it', secret, { sessionId: 's' }))
    const queued = await first.runs.start(request('it', 'harmless', { sessionId: 's', mode: 'background' }))
    const lost = await first.runs.start(request('it', secret, { sessionId: 's', mode: 'background' }))
    await checking.promise
    const { interrupted, queued: left } = await first.store.recover('next', new Date().toISOString())
    expect(interrupted).toMatchObject([{ run_id: died.runId }])
    expect(left).toMatchObject([
      { run: { run_id: queued.runId, messages: [{ content: 'harmless' }] }, unchecked: true },
      { run: { run_id: lost.runId, messages: [{ content: secret }] }, unchecked: true },
    ])
    expect(await first.store.findRun(died.runId)).toMatchObject({
      status: 'interrupted',
      messages: [{ parts: refused }],
    })
    expect(await first.store.findRun(queued.runId)).toMatchObject({
      status: 'queued',
      messages: [{ parts: unchecked }],
    })
    const next = await openServices({ it: agent({ run: () => 'x', guardrails: { input: noSecrets } }) }, first.store)
    next.runs.adopt(left)
    await next.runs.idle()
    expect(await first.store.findRun(queued.runId)).toMatchObject({
      messages: [{ content: 'harmless' }, { content: 'x' }],
    })
    expect(await first.store.findRun(lost.runId)).toMatchObject({
      messages: [{ parts: refused }, { content: 'Not that.' }],
    })
    expect(await first.told('s')).not.toContain(secret)
  })

  it('is taken from the team that was given it, and from all that was run inside it', async () => {
    const judge = agent({ model: scripted(answer('It looks bad.')) })
    const strict = agent({
      name: 'strict',
      model: scripted(answer('never')),
      guardrails: {
        input: async (call) => {
          const { parts, text } = call
          const child = await (call as unknown as RunContext).child(judge, {
            entityId: 'judge',
            input: { parts, text },
          })
          return (await child.result()).status === 'completed' ? { refuse: 'Not that.' } : undefined
        },
      },
    })
    const lax = agent({ name: 'lax', run: ({ text }) => `${text.length} characters` })
    const { ask, told, find, store } = await open({ both: team({ mode: 'parallel', members: [strict, lax] }) })
    const { run } = await ask('both', `my password is ${secret}`, { sessionId: 's' })
    expect(run).toMatchObject({ status: 'completed', messages: [{ parts: refused }, { role: 'assistant' }] })
    expect(await store.readRecords('s', undefined, 10)).toHaveLength(4)
    expect(await told('s')).not.toContain(secret)
    expect(await find(secret)).toEqual([])
  })

  it('is in no cached answer, while an answer that passed is given again', async () => {
    let checks = 0
    const check = ({ text }: { text: string }) => {
      checks++
      return noSecrets({ text })
    }
    const entity = agent({ run: () => 'fine', cache: { ttl: '1m' }, guardrails: { input: check } })
    const { ask, store } = await open({ it: entity })
    for (const hit of [false, true]) expect((await ask('it', 'harmless')).run.cache_hit).toBe(hit)
    expect(checks).toBe(1)
    for (const _ of [1, 2]) {
      const { run } = await ask('it', secret)
      expect(run).toMatchObject({ cache_hit: false, messages: [{ parts: refused }, {}] })
    }
    const hit = (await ask('it', 'harmless')).run
    expect(hit).toMatchObject({ cache_hit: true, messages: [{ content: 'harmless' }, { content: 'fine' }] })
    expect(await store.findRun(hit.run_id)).toMatchObject({ messages: [{ content: 'harmless' }, {}] })
  })

  it('leaves data and large input behind as little as text, and nothing in the files', async () => {
    const entity = agent({ run: () => 'x', guardrails: { input: () => ({ refuse: 'No.' }) } })
    const { ask, runs, store, find, path, sqlite } = await open({ it: entity })
    await find('nothing')
    const parts = [
      { type: 'data' as const, data: { deep: [secret] } },
      { type: 'text' as const, text: `${secret} `.repeat(100_000) },
    ]
    const { run } = await ask('it', '', { parts })
    expect(run.messages[0]?.parts).toEqual(refused)
    expect((await store.findRun(run.run_id))?.messages[0]?.parts).toEqual(refused)
    expect(await find(secret)).toEqual([])
    await runs.idle()
    await store.close()
    if (!sqlite) return
    for (const file of [path, path.replace('.db', '-search.db')]) {
      expect((await readFile(file)).includes(secret), file).toBe(false)
    }
  })
})
