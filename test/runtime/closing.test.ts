import { expect, test } from 'vitest'
import { closeAll } from '../../src/runtime/close-all.ts'
import { oneUse } from '../../src/runtime/once.ts'

test('everything is closed, one after the other, also after one that fails; the first failure is thrown', async () => {
  const closed: string[] = []
  const closing = (name: string, failure?: string) => async () => {
    closed.push(`${name} begins`)
    await Promise.resolve()
    closed.push(`${name} ends`)
    if (failure) throw new Error(failure)
  }
  await expect(closeAll(closing('a', 'first'), closing('b', 'second'), closing('c'))).rejects.toThrow('first')
  expect(closed).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends'])
  await closeAll(closing('d'))
})

const counted = () => {
  const calls = { opened: 0, closed: 0, fails: false }
  const shared = {
    open: async () => {
      calls.opened++
      if (calls.fails) throw new Error('away')
    },
    close: async () => void calls.closed++,
  }
  return { calls, use: oneUse(shared) }
}

test('a user opens and closes once, however often it asks, and can open again', async () => {
  const { calls, use } = counted()
  await use.close()
  await Promise.all([use.open(), use.open()])
  await use.open()
  await Promise.all([use.close(), use.close()])
  expect(calls).toMatchObject({ opened: 1, closed: 1 })
  await use.open()
  expect(calls).toMatchObject({ opened: 2, closed: 1 })
})

test('a user that could not open closes nothing, and tries again', async () => {
  const { calls, use } = counted()
  calls.fails = true
  await expect(Promise.all([use.open(), use.open()])).rejects.toThrow('away')
  await use.close()
  const failing = use.open()
  const closing = use.close()
  await expect(failing).rejects.toThrow('away')
  await closing
  calls.fails = false
  await use.open()
  await use.close()
  expect(calls).toEqual({ opened: 3, closed: 1, fails: false })
})
