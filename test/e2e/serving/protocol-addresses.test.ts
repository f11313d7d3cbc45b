import { afterEach, expect, test } from 'vitest'
import type { Finding } from '../../../src/cli/commands/doctor/finding.ts'
import { officialClient, said } from '../../support/official-clients.ts'
import { command, createProject, type Project } from '../../support/program.ts'
import { openPty, type Pty } from '../../support/pty.ts'

let project: Project
let terminal: Pty | undefined

afterEach(async () => {
  await terminal?.close()
  terminal = undefined
  await project.remove()
})

const config = (server: object) => `import { agent, defineConfig } from 'agentserve'
export default defineConfig({
  server: ${JSON.stringify(server)},
  agents: { echo: agent({ async *run({ text }) { yield text } }) },
})\n`

/** What `dev` shows in the row of this name, and what `doctor` says of it meanwhile. */
async function told(server: object) {
  project = await createProject({ 'agent.config.ts': config(server) })
  const pty = openPty(project, ['dev', '--port', '0'], { columns: 160 })
  terminal = pty
  await pty.until('q quit')
  const { stdout } = await command(project, ['doctor', '--json'])
  const findings = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Finding)
  return {
    dev: (row: string) => new RegExp(`^ +${row} +(\\S+)`, 'm').exec(pty.text())?.[1],
    doctor: (check: string) => findings.find((finding) => finding.check === check)?.message,
  }
}

test('dev and doctor tell the addresses of useChat, AG-UI and A2A, which answer', async () => {
  const { dev, doctor } = await told({ a2a: { prefix: '/talk' }, prefix: '/own/v2' })
  const [a2a = '', chat = '', api = ''] = ['a2a', 'usechat', 'api'].map(dev)
  expect(doctor('a2a')).toBe(`cards at ${a2a}`)
  expect(doctor('usechat')).toBe(chat)
  const { agents } = (await (await fetch(a2a)).json()) as { agents: { id: string; url: string }[] }
  const [{ id = '', url = '' } = {}] = agents.filter((one) => one.id === 'echo')
  expect([id, new URL(url).pathname]).toEqual(['echo', '/talk/agents/echo/'])
  const client = await officialClient('JSON-RPC 1.0', url)
  expect(await client.sendMessage(said('hello'))).toMatchObject({ artifacts: [{}] })
  const body = { id: 'c1', messages: [{ id: 'u1', role: 'user', parts: [{ type: 'text', text: 'hello' }] }] }
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(chat.replace('<agent>', id), { method: 'POST', headers, body: JSON.stringify(body) })
  expect(await answer.text()).toContain('"delta":"hello"')
  expect(new URL(chat.replace('<agent>', id)).pathname).toBe('/own/v2/chat/echo')
  const agUi = dev('ag-ui') ?? ''
  expect(doctor('ag-ui')).toBe(agUi)
  const input = { threadId: 't1', runId: 'r1', messages: [{ id: 'u1', role: 'user', content: 'hello' }] }
  const ran = await fetch(agUi.replace('<agent>', id), { method: 'POST', headers, body: JSON.stringify(input) })
  expect(await ran.text()).toContain('"delta":"hello"')
  const described = (await (await fetch(new URL('/openapi.json', api))).json()) as { paths: Record<string, object> }
  const paths = Object.keys(described.paths)
  expect(paths).toEqual(expect.arrayContaining(['/own/v2/chat/{agent}', '/talk/agents/{id}', '/talk/sendMessage']))
})

test('where useChat and AG-UI are off, dev tells no address, doctor says so, and nothing is there', async () => {
  const { dev, doctor } = await told({ chat: false, agUi: false, a2a: { publicUrl: 'https://agents.example.org' } })
  expect(dev('usechat')).toBeUndefined()
  expect(doctor('usechat')).toBe('off: server.chat is false')
  expect(dev('ag-ui')).toBeUndefined()
  expect(doctor('ag-ui')).toBe('off: server.agUi is false')
  expect(dev('a2a')).toBe('https://agents.example.org/api/v1/a2a/agents')
  expect(doctor('a2a')).toBe('cards at https://agents.example.org/api/v1/a2a/agents')
  const api = dev('api') ?? ''
  expect((await fetch(`${api}/chat/echo`, { method: 'POST', body: '{}' })).status).toBe(404)
  const described = await (await fetch(new URL('/openapi.json', api))).text()
  expect(described).toContain('/agents/{id}/run')
  expect(described).not.toMatch(/\/(?:chat|ag-ui)\/\{agent\}/)
})
