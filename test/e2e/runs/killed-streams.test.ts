import { expect, test } from 'vitest'
import { createClient } from '../../../src/client/index.ts'
import { createProject, serve } from '../../support/program.ts'
import {
  endlessAgent,
  openRaw,
  type RawStream,
  type RawWay,
  rawWays,
  unlike,
} from '../../support/protocols/raw-streams.ts'
import { seededRandom } from '../../support/seeded-random.ts'

const config = `
import { setTimeout as pause } from 'node:timers/promises'
import { agent, defineConfig } from 'agentserve'
export default defineConfig({ agents: { endless: ${endlessAgent} } })
`

test('what a client has of a stream whose server is killed is how the stream begins after a start', {
  timeout: 120_000,
  retry: 0,
}, async () => {
  const random = seededRandom()
  const project = await createProject({ 'agent.config.ts': config })
  let server = await serve(project, 'start')
  try {
    for (let round = 0; round < 4; round++) {
      const open = (way: RawWay) => openRaw(server.url, way, 'endless', `${way.replaceAll(/\W/g, '')}-${round}`)
      const opened = await Promise.all(rawWays.map(async (way) => [way, await open(way)] as const))
      const streams = new Map<RawWay, RawStream>(opened)
      const [last] = opened.at(Math.floor(random() * opened.length)) ?? []
      const most = 3 + Math.floor(random() * 200)
      const counts = () => [...streams.values()].map((stream) => stream.frames().length)
      const isEnough = () => Math.min(...counts()) > 2 && (streams.get(last as RawWay)?.frames().length ?? 0) > most
      await expect.poll(isEnough, { timeout: 20_000, interval: 5 }).toBe(true)
      await server.kill()
      server = await serve(project, 'start')
      const client = createClient({ url: server.url })
      for (const [way, stream] of streams) {
        await stream.ended
        const again = await open(way)
        await again.ended
        expect([way, again.runId]).toEqual([way, stream.runId])
        const run = await client.runs.get(stream.runId)
        expect([way, run.status]).toEqual([way, 'interrupted'])
        expect([way, ...unlike(stream.frames(), again.frames(), run.truncated)]).toEqual([way])
      }
      await client.close()
    }
  } finally {
    await server.kill()
    await project.remove()
  }
})
