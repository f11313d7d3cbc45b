import { expect, test } from 'vitest'
import { createClient } from '../../../src/client/create.ts'
import { createProject, serve } from '../../support/program.ts'

const config = `
import { agent, defineConfig } from 'agentserve'

export default defineConfig({
  agents: {
    reader: agent({
      async *run({ text, parts, files, signal }) {
        if (text === 'wait') {
          await new Promise((_, fail) => signal.addEventListener('abort', () => fail(signal.reason), { once: true }))
        }
        for (const part of parts) if (part.type === 'file') yield new TextDecoder().decode(await files.read(part))
      },
    }),
  },
})
`

test('a background run in the queue has its file after a restart', { timeout: 60_000 }, async () => {
  const project = await createProject({ 'agent.config.ts': config })
  let server = await serve(project, 'start')
  let client = createClient({ url: server.url })
  try {
    const { session_id } = await client.agents.background('reader', { input: 'wait' })
    const files = [{ bytes: new TextEncoder().encode('kept through it'), name: 'a.txt', media_type: 'text/plain' }]
    const { run_id } = await client.agents.background('reader', { input: 'read', session_id, files })
    expect((await client.runs.get(run_id)).status).toBe('queued')
    await client.close()
    await server.kill()

    server = await serve(project, 'start')
    client = createClient({ url: server.url })
    const text = () => client.runs.get(run_id).then(({ status, messages }) => [status, messages.at(-1)?.content])
    await expect.poll(text, { timeout: 20_000 }).toEqual(['completed', 'kept through it'])
  } finally {
    await client.close()
    await server.kill()
    await project.remove()
  }
})
