import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { lockDataFolder, removeServerHint, writeServerHint } from '../../../src/store/data-folder.ts'

describe('the data folder', () => {
  let parent: string
  let folder: string
  beforeEach(async () => {
    parent = await mkdtemp(join(tmpdir(), 'agentserve-folder-'))
    folder = join(parent, 'a', 'data')
  })
  afterEach(() => rm(parent, { recursive: true, force: true }))

  it('is created for its owner alone', async () => {
    const lock = await lockDataFolder(folder)
    expect((await stat(folder)).mode & 0o777).toBe(0o700)
    expect((await stat(join(folder, 'lock.db'))).mode & 0o777).toBe(0o600)
    await lock.release()
  })

  it('has one owner at a time, in this process too', async () => {
    const lock = await lockDataFolder(folder)
    await expect(lockDataFolder(folder)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('Another agentserve owns the data folder'),
    })
    await lock.release()
    await lock.release()
    const next = await lockDataFolder(folder)
    await next.release()
  })

  it('is free again when the process that owns it is killed', async () => {
    const child = fork(new URL('../../fixtures/hold-data-folder.ts', import.meta.url), [folder])
    const exited = once(child, 'exit')
    await once(child, 'message')
    await expect(lockDataFolder(folder)).rejects.toMatchObject({ code: 'conflict' })
    child.kill('SIGKILL')
    await exited
    const lock = await lockDataFolder(folder)
    await lock.release()
  })

  it('keeps the hint of its server', async () => {
    const lock = await lockDataFolder(folder)
    const hint = {
      pid: 1,
      command: 'start',
      url: 'http://127.0.0.1:8080',
      version: '0.1.0',
      started_at: '2030-01-01T00:00:00.000Z',
      secret: 'x',
    }
    await writeServerHint(folder, hint)
    expect(JSON.parse(await readFile(join(folder, 'server.json'), 'utf8'))).toEqual(hint)
    expect((await stat(join(folder, 'server.json'))).mode & 0o777).toBe(0o600)
    await removeServerHint(folder)
    await removeServerHint(folder)
    expect(await readdir(folder)).not.toContain('server.json')
    await lock.release()
  })
})

it.runIf(process.platform === 'linux')('says at once that a folder can not be made', async () => {
  await expect(lockDataFolder('/proc/nowhere/deeper')).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining('/proc/nowhere'),
  })
})
