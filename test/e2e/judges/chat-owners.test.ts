import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { loadAi, openChat, reloadChat, textOf } from '../../judges/chat.ts'
import { createProject, type Project, root, serve } from '../../support/program.ts'

let project: Project

beforeAll(async () => {
  project = await createProject()
  await project.copy(join(root, 'test/judges/agents.config.ts'), 'agent.config.ts')
})
afterAll(() => project?.remove())

test('a chat whose server was killed shows what was said, as interrupted, and goes on', async () => {
  const first = await serve(project)
  const chat = await openChat(7, { api: `${first.url}/api/v1/chat/slow` })
  const sent = chat.sendMessage({ text: 'killed' })
  await project.write('killed-1', '')
  await expect.poll(() => textOf(chat.lastMessage)).toBe('One two ')
  const log = join(project.folder, '.agentserve/agentserve.db-wal')
  await expect.poll(async () => (await readFile(log)).includes('two ')).toBe(true)
  await first.kill()
  await sent
  expect(chat.status).toBe('error')

  const second = await serve(project)
  try {
    const api = `${second.url}/api/v1/chat/slow`
    const { messages, activeRunId } = await reloadChat(api, chat.id)
    const { validateUIMessages } = await loadAi(7)
    expect(await validateUIMessages({ messages })).toHaveLength(2)
    expect(activeRunId).toBeNull()
    expect(messages[0]).toMatchObject({ id: chat.messages[0]?.id, role: 'user' })
    expect(messages[1]).toMatchObject({ id: chat.lastMessage?.id, metadata: { status: 'interrupted' } })
    expect(textOf(messages[1])).toBe('One two ')
    const again = await openChat(7, { api, id: chat.id, messages })
    await again.resumeStream()
    expect(again.status).toBe('ready')
    await project.write('next-1', '')
    await project.write('next-2', '')
    await again.sendMessage({ text: 'next' })
    expect(again).toMatchObject({ status: 'ready', error: undefined })
    expect(textOf(again.lastMessage)).toBe('One two three.')
  } finally {
    await second.stop()
  }
})

test('a chat does not exist for the key of another user', async () => {
  const server = await serve(project, 'dev', [], { JUDGES_KEYS: 'on' })
  try {
    const of = (user: string) => ({ headers: { authorization: `Bearer the-key-of-${user}-0001` } })
    const api = `${server.url}/api/v1/chat/slow`
    const ann = await openChat(7, { api, id: 'ann-asks', transport: of('ann') })
    const sent = ann.sendMessage({ text: 'private' })
    await expect.poll(() => textOf(ann.lastMessage)).toBe('One ')

    const foreign = `${api}/ann-asks`
    expect((await fetch(foreign, of('ben'))).status).toBe(404)
    expect((await fetch(`${foreign}/stream`, of('ben'))).status).toBe(204)
    await fetch(`${foreign}/stop`, { method: 'POST', ...of('ben') })
    const ben = await openChat(7, { api, id: 'ann-asks', transport: of('ben'), messages: ann.messages })
    await ben.sendMessage({ text: 'mine now' })
    expect(ben.status).toBe('error')
    expect(ben.error?.message).not.toMatch(/[{}]/)

    await project.write('private-1', '')
    await project.write('private-2', '')
    await sent
    expect(textOf(ann.lastMessage)).toBe('One two three.')
    const { messages } = await reloadChat(api, 'ann-asks', '', of('ann').headers)
    expect(messages.map(textOf)).toEqual(['private', 'One two three.'])

    const nobody = await openChat(7, { api })
    await nobody.sendMessage({ text: 'Hello?' })
    expect(nobody.status).toBe('error')
    expect(nobody.error?.message).toMatch(/^[A-Z][^{}]*\.$/)
  } finally {
    await server.stop()
  }
})
