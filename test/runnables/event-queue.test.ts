import { expect, it } from 'vitest'
import { EventQueue } from '../../src/runnables/event-queue.ts'

it('gives in order what was pushed before it was closed, then the error', async () => {
  const queue = new EventQueue<number>()
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
  const queue = new EventQueue<number>()
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
  const queue = new EventQueue<number>()
  const pushed = [queue.push(1), queue.push(2), queue.push(3)]
  for await (const _ of queue) break
  await Promise.all([...pushed, queue.push(4)])
})
