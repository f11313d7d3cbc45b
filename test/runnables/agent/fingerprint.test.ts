import { expect, test } from 'vitest'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { fingerprint } from '../../../src/runnables/agent/fingerprint.ts'
import type { AgentSettings } from '../../../src/runnables/agent/settings.ts'

test('is the same for the same data, however it is written down, and another for other data', () => {
  expect(fingerprint({ a: 1, b: [true, null], c: undefined })).toBe(fingerprint({ b: [true, null], a: 1 }))
  const all = [{}, { a: 1 }, { a: '1' }, { a: [1] }, { a: { items: [1] } }, { a: null }, { a: [[1]] }, { b: 1 }]
  expect(new Set(all.map(fingerprint)).size).toBe(all.length)
})

test('can not be told of functions and objects of classes, wherever they are', () => {
  for (const value of [() => 1, new Map(), new Date(), 1n, Symbol('x')]) {
    expect(fingerprint({ a: [{ b: value }] })).toBeUndefined()
  }
})

test('follows every setting of an agent that is data', () => {
  const cache = { ttl: '1m' } as const
  const versionOf = (settings: AgentSettings) => agent({ cache, ...settings }).cache?.version
  const plain = versionOf({ instructions: 'a' })
  expect(plain).toBe(versionOf({ instructions: 'a' }))
  const others: AgentSettings[] = [
    { instructions: 'b' },
    { knowledge: true },
    { model: 'ollama/x' },
    { memory: { runs: 3 } },
  ]
  for (const other of others) expect(versionOf({ instructions: 'a', ...other })).not.toBe(plain)
  expect(agent({ cache, run: () => 'x' }).cache).toEqual({ ttlMs: 60_000, reads: 'context', runs: 1000 })
  expect(versionOf({ stopWhen: () => true })).toBeUndefined()
  const looking = { ttlMs: 60_000, reads: 'context', runs: 1000 }
  expect(agent({ cache, guardrails: { input: () => {} } }).cache).toEqual(looking)
  expect(agent({ cache, hooks: { run: (_call, next) => next() } }).cache).toEqual(looking)
})
