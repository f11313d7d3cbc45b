import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { countedWrites, killAt, killSteps } from '../../support/kill-at/kills.ts'
import { command, createProject } from '../../support/program.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agentserve-kill-'))
})
afterEach(() => rm(folder, { recursive: true }))

test('ends the program just before the write that is named', async () => {
  const project = await createProject()
  const log = join(folder, 'log')
  const run = (at?: number) => command(project, ['sessions', 'list'], '', killAt({ at, log }))
  expect(await run()).toMatchObject({ code: 0 })
  const writes = await countedWrites(log)
  expect(writes.length).toBeGreaterThan(2)
  expect(writes.some((line) => line.includes('statement.run COMMIT'))).toBe(true)
  await rm(join(project.folder, '.agentserve'), { recursive: true })
  expect(await run(3)).toMatchObject({ code: null, signal: 'SIGKILL' })
  expect((await readFile(log, 'utf8')).trimEnd().split('\n')).toHaveLength(3)
  await project.remove()
})

test('spreads the steps over all writes', () => {
  expect(killSteps(4)).toEqual([1, 2, 3, 4])
  expect(killSteps(100, 3)).toEqual([1, 51, 100])
  expect(killSteps(1)).toEqual([1])
  expect(killSteps(0)).toEqual([])
})
