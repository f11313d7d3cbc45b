import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type KeptTestRun, keepRun, mostKeptRuns, readKeptRuns } from '../../src/testing/kept-runs.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agentserve-kept-'))
})
afterEach(() => rm(folder, { recursive: true }))

const run = (number: number): KeptTestRun => ({
  at: new Date(number * 1000).toISOString(),
  mode: 'scores',
  commit: `c${number}`,
  changed: false,
  results: [],
})

test('kept runs come newest first, and the oldest go', async () => {
  const data = join(folder, 'not/there/yet')
  expect(await readKeptRuns(data)).toEqual([])
  for (let number = 0; number < mostKeptRuns + 2; number++) await keepRun(data, run(number))
  const kept = await readKeptRuns(data)
  expect(kept).toHaveLength(mostKeptRuns)
  expect([kept[0]?.commit, kept.at(-1)?.commit]).toEqual([`c${mostKeptRuns + 1}`, 'c2'])
})

test('a line that a crash has cut off costs that line alone', async () => {
  await keepRun(folder, run(1))
  await appendFile(join(folder, 'test-runs.jsonl'), '{"at":"2026-01-01T00:00:00.000Z","mode":"sco')
  await keepRun(folder, run(2))
  expect((await readKeptRuns(folder)).map(({ commit }) => commit)).toEqual(['c2', 'c1'])
  expect((await readFile(join(folder, 'test-runs.jsonl'), 'utf8')).split('\n')).toHaveLength(4)
})
