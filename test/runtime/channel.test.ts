import { expect, it } from 'vitest'
import { Channel } from '../../src/runtime/channel.ts'

it('gives in order what was pushed before it was closed, then the error', async () => {
  const queue = new Channel<number>()
  void queue.push(1)
  void queue.push(2)
  queue.close({ error: new Error('end') })
  void queue.push(3)
  const seen: number[] = []
  await expect(
    (async () => {
      for await (const value of queue) seen.push(value)
    })(),
  ).rejects.toThrow('end')
  expect(seen).toEqual([1, 2])
})

it('holds a producer that waits until the reader has dealt with its value', async () => {
  const queue = new Channel<number>()
  let taken = false
  void queue.push(1).then(() => {
    taken = true
  })
  await Promise.resolve()
  expect(taken).toBe(false)
  const reader = queue[Symbol.asyncIterator]()
  await reader.next()
  await Promise.resolve()
  expect(taken).toBe(false)
  queue.close()
  await reader.next()
  expect(taken).toBe(true)
})

it('lets producers go when the reader leaves', async () => {
  const queue = new Channel<number>()
  const pushed = [queue.push(1), queue.push(2), queue.push(3)]
  for await (const _ of queue) break
  await Promise.all([...pushed, queue.push(4)])
})

it('makes a producer that offers wait only when much is waiting', async () => {
  const queue = new Channel<number>()
  const waits = Array.from({ length: 17 }, (_, index) => queue.offer(index))
  expect(waits.slice(0, 16)).toEqual(Array.from({ length: 16 }, () => undefined))
  expect(waits[16]).toBeInstanceOf(Promise)
  const seen: number[] = []
  queue.close()
  for await (const value of queue) seen.push(value)
  await waits[16]
  expect(seen).toEqual(Array.from({ length: 17 }, (_, index) => index))
})

it('gives a reader that waits what comes next, and tells an error once', async () => {
  const queue = new Channel<number>()
  const reader = queue[Symbol.asyncIterator]()
  const first = reader.next()
  queue.offer(1)
  expect(await first).toEqual({ done: false, value: 1 })
  const second = reader.next()
  queue.close({ error: new Error('broken') })
  await expect(second).rejects.toThrow('broken')
  expect(await reader.next()).toEqual({ done: true, value: undefined })
})

it('lets a reader go that leaves while it waits', async () => {
  const queue = new Channel<number>()
  const reader = queue[Symbol.asyncIterator]()
  const waiting = reader.next()
  await reader.return?.()
  expect(await waiting).toEqual({ done: true, value: undefined })
  expect(queue.closed).toBe(true)
})
