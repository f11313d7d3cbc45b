import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { dynamicTool, jsonSchema, type ToolSet, tool } from 'ai'
import { expect, test } from 'vitest'
import { z } from 'zod'
import type { Json } from '../../../src/core/json.ts'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { toContent } from '../../../src/runnables/files/results.ts'
import { mcp } from '../../../src/runnables/mcp/mcp.ts'
import { scriptedModel } from '../../../src/testing/scripted-model.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { eventsOf } from '../agent-server.ts'
import { openFiles, picture, text } from './opened.ts'

const fixture = fileURLToPath(new URL('../../fixtures/mcp-server.ts', import.meta.url))
const look = { tool_calls: [{ name: 'look' }] }
const returning = (output: unknown) => tool({ inputSchema: z.object({}), execute: async () => output })

/** What the model and the record get of a tool's result. */
async function seen(tool: ToolSet[string], server: Parameters<typeof openFiles>[1] = {}) {
  const model = scriptedModel(look, 'Seen.')
  await using opened = await openFiles({ agents: { helper: agent({ model, tools: { look: tool } }) } }, server)
  const run = await opened.run('helper', [text('Look.')])
  const [result] = eventsOf(await opened.events(run.run_id), 'tool_result')
  const said = model.calls[1]?.prompt.findLast(({ role }) => role === 'tool')?.content[0]
  return { run, result, told: typeof said === 'object' && said.type === 'tool-result' ? said.output : undefined }
}

const storedPicture = (size: number, more: object = {}) => ({
  type: 'file',
  media_type: 'image/png',
  file_id: expect.stringMatching(/^file_/),
  size,
  ...more,
})
const toldFile = (data: Uint8Array, mediaType = 'image/png', more: object = {}) =>
  expect.objectContaining({ type: 'file', mediaType, data: { type: 'data', data }, ...more })

const photo = new Uint8Array(randomBytes(3_000_000))
photo.set(picture(8))

test('an image of 3 MB that MCP returns reaches the model byte for byte, and the record names it', async () => {
  // As an MCP server's tool is made.
  const content = [
    { type: 'text', text: 'Here it is.' },
    { type: 'image', data: Buffer.from(photo).toString('base64'), mimeType: 'image/png' },
    { type: 'resource_link', uri: 'file:///a', name: 'a' },
  ]
  const mcpTool = dynamicTool({
    inputSchema: jsonSchema({ type: 'object' }),
    execute: async () => ({ content }),
    toModelOutput: ({ output }) => ({
      type: 'content',
      value: (output as { content: unknown[] }).content.map(toContent),
    }),
  })
  const { result, told } = await seen(mcpTool)
  const parts = told?.type === 'content' ? told.value : []
  expect(parts).toMatchObject([
    { type: 'text', text: 'Here it is.' },
    { type: 'file', mediaType: 'image/png', data: { type: 'data', data: expect.any(Uint8Array) } },
    { type: 'text', text: JSON.stringify(content[2]) },
  ])
  const sent = parts[1]?.type === 'file' && parts[1].data.type === 'data' ? parts[1].data.data : ''
  expect(Buffer.compare(Buffer.from(sent as Uint8Array), photo)).toBe(0)
  expect(result?.output).toEqual({ content: [content[0], storedPicture(3_000_000), content[2]] })
})

test('a real MCP server sends an image', async () => {
  await using folder = await temporaryFolder()
  const file = join(folder.path, 'a.png')
  await writeFile(file, photo)
  const model = scriptedModel({ tool_calls: [{ name: 'camera_photo' }] }, 'Seen.')
  const camera = mcp({ command: process.execPath, args: [fixture], env: { PHOTO: file } })
  await using server = await openFiles({ agents: { helper: agent({ model, tools: { camera } }) } })
  const run = await server.run('helper', [text('Look.')])
  expect(run).toMatchObject({ status: 'completed', error: null })
  const [result] = eventsOf(await server.events(run.run_id), 'tool_result')
  expect(result?.output).toMatchObject({ content: [storedPicture(3_000_000)] })
  const told = JSON.stringify(model.calls[1]?.prompt, (_key, value) =>
    value instanceof Uint8Array ? Buffer.compare(value, photo) : value,
  )
  expect(told).toContain('"data":{"type":"data","data":0}')
})

test.each<[string, unknown, Json]>([
  ['bytes', picture(50), storedPicture(50) as Json],
  ['a Buffer', Buffer.from(picture(50)), storedPicture(50) as Json],
  [
    'a file part',
    { type: 'file', media_type: 'image/png', name: 'a.png', data: picture(50) },
    storedPicture(50, { name: 'a.png' }) as Json,
  ],
  [
    'a file part with base64',
    { type: 'file', mediaType: 'image/png', data: Buffer.from(picture(50)).toString('base64') },
    storedPicture(50) as Json,
  ],
  [
    'a list',
    ['Here:', { type: 'file', mediaType: 'image/png', data: { type: 'data', data: picture(50) } }],
    ['Here:', storedPicture(50)] as Json,
  ],
])('a tool of the agent may return %s', async (_what, output, recorded) => {
  const { result, told } = await seen(returning(output))
  expect(result?.output).toEqual(recorded)
  expect(told).toMatchObject({ type: 'content' })
  expect(told?.type === 'content' && told.value.at(-1)).toEqual(toldFile(picture(50)))
})

test('a tool that tells the model a file itself is recorded without the bytes', async () => {
  const { result, told } = await seen(
    tool({
      inputSchema: z.object({}),
      execute: async () => ({ width: 3, pixels: picture(50) }),
      toModelOutput: ({ output }) => ({
        type: 'content',
        value: [{ type: 'file', mediaType: 'image/png', data: { type: 'data', data: output.pixels } }],
      }),
    }),
  )
  expect(result?.output).toEqual({ width: 3, pixels: '50 bytes' })
  expect(told).toEqual({ type: 'content', value: [toldFile(picture(50))] })
})

test('text that only looks like a file stays text', async () => {
  const odd = [{ type: 'image', data: 'not base64!', mimeType: 'image/png' }]
  const { result, told } = await seen(returning(odd))
  expect(result?.output).toEqual(odd)
  expect(told).toMatchObject({ type: 'json', value: odd })
})

test('a result that names a file of another session tells the model that there is none', async () => {
  const foreign = { type: 'file', media_type: 'image/png', file_id: 'file_of_somebody', size: 3 }
  const { run, told } = await seen(returning([foreign]))
  expect(run.status).toBe('completed')
  expect(JSON.stringify(told)).toContain("can't be read")
})

test('a file above the limit, and one too many, fail the call and not the server', async () => {
  const large = await seen(returning(picture(2_000)), { server: { limits: { fileSize: 1_000 } } })
  expect(large.result?.error?.message).toContain('`fileSize`')
  const many = await seen(returning([picture(10), picture(11)]), { server: { limits: { run: { files: 1 } } } })
  expect(many.result?.error?.message).toContain('`run.files`')
  expect([large.run.status, many.run.status]).toEqual(['completed', 'completed'])
})

test('a pause keeps the files of earlier results, and the resumed model gets their bytes', async () => {
  const model = scriptedModel(look, { tool_calls: [{ name: 'publish' }] }, 'Done.')
  const tools = { look: returning(picture(3_000)), publish: returning('ok') }
  await using server = await openFiles({
    agents: { helper: agent({ model, tools, toolApproval: { publish: 'user-approval' } }) },
  })
  const paused = await server.run('helper', [text('Look and publish.')])
  const checkpoint = eventsOf(await server.events(paused.run_id), 'input_required')[0]?.messages
  expect(JSON.stringify(checkpoint)).toContain('"reference":{"agentserve":"file_')
  expect(JSON.stringify(checkpoint).length).toBeLessThan(2_000)
  expect(await server.resume(paused.run_id)).toMatchObject({ status: 'completed', error: null })
  const results = model.calls[2]?.prompt.flatMap((message) => (message.role === 'tool' ? message.content : []))
  expect(results?.[0]).toMatchObject({ output: { type: 'content', value: [toldFile(picture(3_000))] } })
})
