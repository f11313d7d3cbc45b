import { expect, test } from 'vitest'
import { releaseBytes } from '../../src/runtime/release-bytes.ts'

test('gives the memory back', () => {
  const bytes = new Uint16Array(1_000)
  releaseBytes(bytes)
  expect(bytes).toHaveLength(0)
  expect(bytes.buffer.detached).toBe(true)
})

test('leaves a part of a larger buffer as it is, for others may use the rest', () => {
  const whole = Uint8Array.from({ length: 100 }, (_, at) => at)
  const part = whole.subarray(10, 20)
  releaseBytes(part)
  expect(part).toHaveLength(10)
  expect(whole.at(-1)).toBe(99)
})
