import { createHash, randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createClient } from '../../../src/client/index.ts'
import { command, createProject, type Project, type RunningServer, root, serve } from '../../support/program.ts'

/* One image of 3 MB, by every way in: what the model's request has, and what the database keeps. */

const image = randomBytes(3_000_000)
image.set(Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'))
const hash = createHash('sha256').update(image).digest('hex')
const fixture = join(root, 'test/fixtures/mcp-server.ts')

const config = (photo: string) => `
import { createHash } from 'node:crypto'
import { agent, defineConfig, mcp } from 'agentserve'
import { scriptedModel } from 'agentserve/testing'

function filesIn(value) {
  if (value instanceof Uint8Array) return [createHash('sha256').update(value).digest('hex')]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(filesIn) : []
}
const looking = scriptedModel(({ prompt }) => JSON.stringify(filesIn(prompt.at(-1))))
const taking = scriptedModel(({ prompt }) =>
  prompt.at(-1).role === 'tool' ? JSON.stringify(filesIn(prompt)) : { tool_calls: [{ name: 'camera_photo', input: {} }] })

export default defineConfig({
  mcpServers: {
    camera: {
      command: ${JSON.stringify(process.execPath)},
      args: [${JSON.stringify(fixture)}],
      env: { PHOTO: ${JSON.stringify(photo)} },
    },
  },
  agents: {
    eye: agent({ model: looking }),
    photographer: agent({ model: taking, tools: { camera: mcp('camera') } }),
  },
})
`

let project: Project
let server: RunningServer

beforeAll(async () => {
  project = await createProject()
  const photo = join(project.folder, 'photo.png')
  await writeFile(photo, image)
  await project.write('agent.config.ts', config(photo))
  server = await serve(project, 'start')
})
afterAll(async () => {
  await server?.stop()
  await project?.remove()
})

const once = JSON.stringify([hash])

test('the client sends it', async () => {
  const client = createClient({ url: server.url })
  const files = [{ bytes: image, name: 'photo.png', media_type: 'image/png' }]
  expect((await client.agents.run('eye', { input: 'Look.', files })).content).toBe(once)
})

test('a form over HTTP sends it, and it is read back byte for byte', async () => {
  const form = new FormData()
  form.set('request', JSON.stringify({ input: 'Look.' }))
  form.set('file', new Blob([image], { type: 'image/png' }), 'photo.png')
  const answer = await fetch(`${server.url}/api/v1/agents/eye/run`, { method: 'POST', body: form })
  const { content, session_id, messages } = (await answer.json()) as {
    content: string
    session_id: string
    messages: { parts: { file_id?: string }[] }[]
  }
  expect(content).toBe(once)
  const fileId = messages[0]?.parts[1]?.file_id
  const file = await fetch(`${server.url}/api/v1/sessions/${session_id}/files/${fileId}`)
  expect(Buffer.compare(Buffer.from(await file.arrayBuffer()), image)).toBe(0)
})

test('chat sends it', async () => {
  const { code, stdout, stderr } = await command(project, ['chat', 'eye', '-m', 'Look.', '--attach', 'photo.png'])
  expect({ code, stdout: stdout.trim() }, stderr).toEqual({ code: 0, stdout: once })
})

test('a tool of an MCP server gives it', async () => {
  const answer = await createClient({ url: server.url }).agents.run('photographer', { input: 'Take one.' })
  expect(answer.content).toBe(once)
})

test('the database has it once', async () => {
  const size = async (name: string) => (await readFile(join(project.folder, '.agentserve', name))).byteLength
  await server.stop()
  expect(await size('agentserve.db')).toBeLessThan(1.5 * image.byteLength)
})
