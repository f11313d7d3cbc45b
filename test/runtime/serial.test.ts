import { expect, it } from 'vitest'
import { createSerial } from '../../src/runtime/serial.ts'

it('runs one piece of work at a time, in order, and goes on after a failure', async () => {
  const queue = createSerial()
  const log: string[] = []
  const gate = Promise.withResolvers<void>()
  const first = queue.run(async () => {
    log.push('first begins')
    await gate.promise
    log.push('first ends')
    throw new Error('broken')
  })
  const second = queue.run(() => {
    log.push('second')
    return 2
  })
  gate.resolve()
  await expect(first).rejects.toThrow('broken')
  expect(await second).toBe(2)
  expect(log).toEqual(['first begins', 'first ends', 'second'])
})

it('is idle when all work given so far has ended, failed or not', async () => {
  const queue = createSerial()
  const gate = Promise.withResolvers<void>()
  let isIdle = false
  queue
    .run(async () => {
      await gate.promise
      throw new Error('broken')
    })
    .catch(() => {})
  const idle = queue.idle().then(() => {
    isIdle = true
  })
  await Promise.resolve()
  expect(isIdle).toBe(false)
  gate.resolve()
  await idle
})
