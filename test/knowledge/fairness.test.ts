import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createFairTurns } from '../../src/knowledge/preparing/fair-turns.ts'
import { type KnowledgeFolder, knowledgeFolder } from '../support/knowledge/folder.ts'

describe('the documents of many callers', () => {
  let place: KnowledgeFolder
  beforeAll(async () => {
    place = await knowledgeFolder()
  })
  afterAll(() => place.remove())

  it('have equal turns: the slow ones of one caller do not hold up those of another', async () => {
    const knowledge = await place.open()
    const slow = `<p>${'<b>word</b> '.repeat(200_000)}</p>`
    const stop = new AbortController()
    const ended: string[] = []
    const ingest = (source: string, content: string, caller: string) =>
      knowledge.ingest({ content: `${content}${source}`, source, name: `${source}.html` }, stop.signal, caller).then(
        () => ended.push(source),
        () => ended.push(`${source} failed`),
      )
    const all = ['slow-1', 'slow-2', 'slow-3'].map((source) => ingest(source, slow, 'ann'))
    await ingest('quick', '<p>Words', 'bob')
    expect(ended).toEqual(['quick'])
    stop.abort()
    await Promise.all(all)
  })
})

describe('createFairTurns', () => {
  const never = new AbortController().signal

  function createLog() {
    const turns = createFairTurns({ atOnce: 2, patienceMs: 1 })
    const begun: string[] = []
    const ends = new Map<string, () => void>()
    const run = (caller: string, name: string, signal = never) =>
      turns.run(
        caller,
        (preempted) =>
          new Promise<string>((resolve, reject) => {
            begun.push(name)
            ends.set(name, () => resolve(name))
            preempted.addEventListener('abort', () => reject(preempted.reason), { once: true })
          }),
        signal,
      )
    return { begun, run, end: (name: string) => ends.get(name)?.() }
  }

  it('takes a place from a caller that has two for one that has none, and does that work again', async () => {
    const { begun, run, end } = createLog()
    const all = [run('ann', 'a1'), run('ann', 'a2'), run('ann', 'a3'), run('bob', 'b1')]
    await expect.poll(() => begun).toEqual(['a1', 'a2', 'b1'])
    end('b1')
    await all[3]
    // One at a time from now, in the order in which they were asked for.
    expect(begun).toEqual(['a1', 'a2', 'b1'])
    for (const name of ['a1', 'a2', 'a3']) {
      await expect.poll(() => begun.at(-1) === name || name === 'a1').toBe(true)
      end(name)
    }
    await expect(Promise.all(all)).resolves.toEqual(['a1', 'a2', 'a3', 'b1'])
    expect(begun).toEqual(['a1', 'a2', 'b1', 'a2', 'a3'])
  })

  it('lets whoever gives up while waiting go, and others have their turn', async () => {
    const { begun, run, end } = createLog()
    const stop = new AbortController()
    const [first, second, third] = [run('ann', 'a1'), run('ann', 'a2'), run('ann', 'a3', stop.signal)]
    await expect.poll(() => begun).toEqual(['a1', 'a2'])
    stop.abort(new Error('enough'))
    await expect(third).rejects.toThrow('enough')
    end('a1')
    end('a2')
    await Promise.all([first, second])
    expect(begun).toEqual(['a1', 'a2'])
  })
})
