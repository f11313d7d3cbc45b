import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { afterEach, expect, test } from 'vitest'
import { tinyModelFiles, tinyModelName } from '../../support/knowledge/tiny-model.ts'
import { command, createProject, launch, type Project, serve } from '../../support/program.ts'
import { openPty, type Pty } from '../../support/pty.ts'

let project: Project
let pty: Pty | undefined
const closers: (() => Promise<unknown>)[] = []

afterEach(async () => {
  await pty?.close()
  for (const close of closers.splice(0)) await close()
  await project.remove()
})

test('knowledge reindex shows how far the download of a model is, and uses it then', async () => {
  project = await createProject({
    'agent.config.ts': `import { defineConfig } from 'agentserve'
      export default defineConfig({ server: { embedding: { model: '${tinyModelName}' } } })`,
    'notes/lamp.md': '# Lamp\n\nThe lamp burns paraffin.\n',
  })
  const files = tinyModelFiles('onnx/model_quantized.onnx')
  const shown = Promise.withResolvers<void>()
  const hub = createServer(async (request, response) => {
    const name = decodeURIComponent(request.url ?? '').replace(`/${tinyModelName}/resolve/main/`, '')
    const content = files.get(name)
    if (!content) return void response.writeHead(404).end()
    response.writeHead(200, { 'content-length': content.length })
    if (!name.startsWith('onnx/')) return void response.end(content)
    response.write(content.subarray(0, 1_000))
    await shown.promise
    response.end(content.subarray(1_000))
  })
  await new Promise<void>((resolve) => hub.listen(0, '127.0.0.1', resolve))
  closers.push(() => new Promise((resolve) => hub.close(resolve).closeAllConnections()))
  const env = {
    HF_ENDPOINT: `http://127.0.0.1:${(hub.address() as AddressInfo).port}`,
    XDG_CACHE_HOME: `${project.folder}/cache`,
  }
  expect((await command(project, ['ingest', 'notes'], '', env)).code).toBe(0)
  pty = openPty(project, ['knowledge', 'reindex', '--embedder', 'transformers'], { env })
  await pty.until(/[█░]{24} [\d.]+\/[\d.]+ MB of the model/)
  shown.resolve()
  expect((await pty.exited).code).toBe(0)
  expect(pty.text()).toMatch(new RegExp(`default +1 +1 +1 +0 +transformers ${tinyModelName}`))
  expect(pty.screen().join('\n')).not.toContain('MB of the model')
})

test('knowledge reindex takes longer than a request may', async () => {
  let isHeld = false
  const asked = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  const endpoint = createServer(async (request, response) => {
    const { input } = JSON.parse((await buffer(request)).toString()) as { input: string[] }
    if (isHeld) {
      asked.resolve()
      await released.promise
    }
    const data = input.map((text, index) => ({ index, embedding: [text.length, 1, 2, 3] }))
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ data }))
  })
  await new Promise<void>((resolve) => endpoint.listen(0, '127.0.0.1', resolve))
  closers.push(() => new Promise((resolve) => endpoint.close(resolve).closeAllConnections()))
  const baseUrl = `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}/v1`
  project = await createProject({
    'agent.config.ts': `import { defineConfig } from 'agentserve'
      export default defineConfig({
        server: { requestTimeout: '2s', embedding: { provider: 'openai', baseUrl: '${baseUrl}', model: 'lengths' } },
      })`,
    'notes/lamp.md': '# Lamp\n\nThe lamp burns paraffin.\n',
  })
  expect((await command(project, ['ingest', 'notes'])).code).toBe(0)
  const server = await serve(project, 'start')
  closers.push(() => server.stop())
  isHeld = true
  const reindexing = launch(project, ['knowledge', 'reindex'])
  await asked.promise
  const body = JSON.stringify({ query: 'lamp', mode: 'vector' })
  const headers = { 'content-type': 'application/json' }
  const search = await fetch(`${server.url}/api/v1/knowledge/search`, { method: 'POST', headers, body })
  expect(search.status).toBe(504)
  released.resolve()
  expect(await reindexing.finished).toMatchObject({ code: 0, stdout: expect.stringMatching(/default +1 +1 +1 +0/) })
})
