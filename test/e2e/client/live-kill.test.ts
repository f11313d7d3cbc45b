import { expect, test } from 'vitest'
import { createClient } from '../../../src/client/index.ts'
import { openCuttingProxy } from '../../support/client/cutting-proxy.ts'
import { createPicture, listedBy } from '../../support/client/picture.ts'
import { createProject, serve } from '../../support/program.ts'

const config = `import { agent, defineConfig } from 'agentserve'
export default defineConfig({
  agents: { echo: agent({ sideEffects: false, async *run({ text }) { yield text } }) },
})
`

test('a killed and restarted server tells its readers to read again, and nothing is missing then', async () => {
  const project = await createProject({ 'agent.config.ts': config })
  let server = await serve(project, 'start')
  const proxy = await openCuttingProxy(server.url)
  const client = createClient({ url: proxy.url, retries: 0 })
  const picture = createPicture(client)
  const controller = new AbortController()
  const ids = new Set<string>()
  const reading = (async () => {
    for await (const event of client.live({ reconnects: 1_000, signal: controller.signal })) {
      if (event.type === 'hello') ids.add(event.server_id)
      // A list that is read while the server is killed is read again after the next greeting.
      await picture.add(event).catch(() => {})
    }
  })().catch((error: unknown) => {
    if (!controller.signal.aborted) throw error
  })
  await expect.poll(() => ids.size).toBe(1)
  for (let index = 0; index < 10; index++) await client.sessions.create({ session_id: `before-${index}` })
  const writing = Promise.all(
    Array.from({ length: 20 }, (_, index) => client.agents.run('echo', { input: `${index}` }).catch(() => {})),
  )
  await server.kill()
  await writing
  server = await serve(project, 'start')
  proxy.leadTo(server.url)
  await expect.poll(() => picture.resets, { timeout: 30_000 }).toEqual(['restarted'])
  await client.sessions.create({ session_id: 'after' })
  await expect.poll(() => picture.sessions.has('after'), { timeout: 30_000 }).toBe(true)
  expect(picture.sessions).toEqual(await listedBy(client))
  expect(ids.size).toBe(2)
  controller.abort()
  await reading
  await client.close()
  await proxy.close()
  await server.stop()
  await project.remove()
}, 120_000)
