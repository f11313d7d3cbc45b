import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { command, createProject, type Project, serve } from '../../support/program.ts'

const config = `
import { agent, defineConfig } from 'agentserve'
export default defineConfig({
  agents: { echo: agent({ async *run({ text }) { yield text } }) },
  server: { auth: { keys: [
    { id: 'desk', key: 'the-key-of-the-desk' },
    { id: 'laptop', key: 'the-key-of-the-laptop', userId: 'ann' },
  ] } },
})
`

let project: Project
beforeAll(async () => {
  project = await createProject({ 'agent.config.ts': config })
})
afterAll(() => project.remove())

const linesOf = (stdout: string) =>
  stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))

test('an act that was answered is in the log after a kill, in a backup, and in what is restored', async () => {
  const server = await serve(project, 'start')
  const desk = ['--url', server.url, '--key', 'the-key-of-the-desk']
  await command(project, ['chat', 'echo', '--session', 'gone', ...desk], 'hello\n')
  const deleted = await fetch(`${server.url}/api/v1/sessions/gone`, {
    method: 'DELETE',
    headers: { authorization: 'Bearer the-key-of-the-desk', 'x-request-id': 'the-delete' },
  })
  expect(deleted.status).toBe(200)
  const refused = await command(project, ['audit', '--url', server.url, '--key', 'the-key-of-the-laptop'])
  expect([refused.code, refused.stdout, refused.stderr]).toEqual([1, '', expect.stringContaining("'admin'")])
  await server.kill()

  const entry = { action: 'session.delete', caller: 'desk', object_id: 'gone', outcome: 'ok', request_id: 'the-delete' }
  const log = await command(project, ['audit', '--action', 'session.delete', '--json'])
  expect([log.code, linesOf(log.stdout)]).toEqual([0, [expect.objectContaining(entry)]])
  const table = await command(project, ['audit', '--since', '1h', '--until', '2999-01-01T00:00:00.000Z'])
  expect([table.code, table.stdout]).toEqual([
    0,
    expect.stringMatching(/WHEN +WHO .*\n[\s\S]*desk .*session\.delete +gone +ok/),
  ])
  const none = await command(project, ['audit', '--caller', 'nobody'])
  expect([none.code, none.stdout, none.stderr]).toEqual([0, '', expect.stringContaining('No entries found.')])
  const wrong = await command(project, ['audit', '--since', 'yesterday'])
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('--since takes')])

  const file = join(project.folder, 'saved.tar')
  expect((await command(project, ['backup', file])).code).toBe(0)
  const restored = join(project.folder, 'restored')
  expect((await command(project, ['restore', file, '--data', restored])).code).toBe(0)
  const there = await command(project, ['audit', '--json', '--data', restored])
  const actions = linesOf(there.stdout).map(({ action, caller }) => `${action} ${caller}`)
  // The backup's own entry was written before its copy.
  expect(actions).toEqual(expect.arrayContaining(['session.delete desk', 'key.use desk', 'backup key:command']))
  const page = await command(project, ['audit', '--limit', '1', '--json', '--data', restored])
  const cursor = /--cursor (\S+)/.exec(page.stderr)?.[1] ?? ''
  const next = await command(project, ['audit', '--limit', '1', '--json', '--cursor', cursor, '--data', restored])
  expect(linesOf(next.stdout)[0].entry_id).not.toBe(linesOf(page.stdout)[0].entry_id)
})
