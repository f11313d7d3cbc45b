import { cp, mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { countedWrites, killAt, killSteps } from '../../support/kill-at/kills.ts'
import { command, createProject, type Project, root } from '../../support/program.ts'

/* A command is killed before some of its writes, spread over all, and the next one finds no half state. */

/** `KILL_STEPS=1000 vitest run test/store/kills/backup-kills.test.ts` tries every write, which takes some ten minutes. */
const steps = Number(process.env.KILL_STEPS ?? 5)
const timeoutMs = process.env.KILL_STEPS === undefined ? 120_000 : 1_800_000
const fixture = join(root, 'test/fixtures/data-folders/1')
let project: Project
let folder: string
let log: string
const at = (name: string) => ['--config', join(root, 'bench/agent.config.ts'), '--data', join(folder, name)]
const run = (args: string[], kill?: number) => command(project, args, '', killAt({ at: kill, log }))
const exists = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  )

beforeAll(async () => {
  project = await createProject()
  folder = await mkdtemp(join(tmpdir(), 'agentserve-kills-'))
  log = join(folder, 'log')
  await cp(fixture, join(folder, 'data'), { recursive: true })
  expect((await command(project, ['backup', join(folder, 'whole.tar'), ...at('data')])).code).toBe(0)
}, 60_000)
afterAll(async () => {
  await project.remove()
  await rm(folder, { recursive: true })
})

async function writesOf(args: string[]): Promise<number[]> {
  expect((await run(args)).code).toBe(0)
  return killSteps((await countedWrites(log)).length, steps)
}

/** Ends the command before this write of it; the last one may not come, since how often a disk is asked varies a little. */
async function kill(args: string[], place: number): Promise<void> {
  const { signal, code, stderr } = await run(args, place)
  if (signal !== 'SIGKILL') expect([place > steps, code, stderr]).toEqual([true, 0, stderr])
}

async function showsEverything(name: string): Promise<void> {
  const shown = await command(project, ['sessions', 'show', 'kept', ...at(name)])
  expect(shown.stdout).toContain('remember the heron')
  const { stdout } = await command(project, ['doctor', '--check', '--json', ...at(name)])
  expect(stdout).not.toContain('"wrong"')
}

test(
  'a backup that is killed leaves no file of its name, and no copies after the next start',
  async () => {
    const file = join(folder, 'killed.tar')
    const places = await writesOf(['backup', file, ...at('data')])
    expect(places.length).toBeGreaterThan(3)
    for (const place of places) {
      await rm(file, { force: true })
      await kill(['backup', file, ...at('data')], place)
      if (!(await exists(file))) continue
      // Renamed already: then it is whole.
      await rm(join(folder, 'of-killed'), { recursive: true, force: true })
      expect((await command(project, ['restore', file, ...at('of-killed')])).code).toBe(0)
    }
    await showsEverything('data')
    expect((await readdir(join(folder, 'data'))).filter((name) => name.startsWith('backup-'))).toEqual([])
  },
  timeoutMs,
)

test(
  'a restore that is killed leaves no data or all of it, and can be repeated',
  async () => {
    const args = ['restore', join(folder, 'whole.tar'), ...at('restored')]
    const places = await writesOf(args)
    expect(places.length).toBeGreaterThan(3)
    for (const place of places) {
      await rm(join(folder, 'restored'), { recursive: true, force: true })
      await kill(args, place)
      const names = (await readdir(join(folder, 'restored')).catch(() => [])).filter(
        (name) => !name.startsWith('lock.db'),
      )
      expect([[], ['agentserve.db', 'knowledge']]).toContainEqual(names.sort())
      if (names.length === 0) expect((await command(project, args)).code).toBe(0)
    }
    await showsEverything('restored')
    expect((await readdir(folder)).filter((name) => name.includes('.restore-'))).toEqual([])
  },
  timeoutMs,
)

test(
  'an update that is killed is made whole by the next start, with the copy from before it',
  async () => {
    const update = ['sessions', 'list', ...at('old')]
    const fresh = async () => {
      await rm(join(folder, 'old'), { recursive: true, force: true })
      await mkdir(join(folder, 'old'))
      await cp(fixture, join(folder, 'old'), { recursive: true })
    }
    await fresh()
    for (const place of await writesOf(update)) {
      await fresh()
      await kill(update, place)
      await showsEverything('old')
      const left = await readdir(join(folder, 'old'))
      expect(left.filter((name) => name.includes('.version-'))).toEqual(['agentserve.db.version-1'])
    }
  },
  timeoutMs,
)

test(
  'a compaction that is killed leaves the file as it was or the new one',
  async () => {
    const args = ['doctor', '--compact', ...at('data')]
    for (const place of await writesOf(args)) {
      await kill(args, place)
      await showsEverything('data')
    }
  },
  timeoutMs,
)
