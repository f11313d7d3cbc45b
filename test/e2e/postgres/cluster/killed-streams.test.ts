import { expect, test } from 'vitest'
import type { Instance } from '../../../support/cluster/instances.ts'
import { ownInstances } from '../../../support/cluster/own-instances.ts'
import { describePostgres } from '../../../support/postgres/describe-postgres.ts'
import { endlessAgent, openRaw, rawWays, unlike } from '../../../support/protocols/raw-streams.ts'

const config = `
import { setTimeout as pause } from 'node:timers/promises'
import { agent, defineConfig } from 'agentserve'

const { LISTEN_URL } = process.env
export default defineConfig({
  server: { storage: { type: 'postgres', schema: 'agents', listenUrl: LISTEN_URL, cluster: { deadAfter: '5s' } } },
  agents: { endless: ${endlessAgent} },
})
`

describePostgres('streams of an instance that is killed', () => {
  let [a, b] = [] as unknown as [Instance, Instance]
  ownInstances({ names: ['a', 'b'], config }, (all) => {
    ;[a, b] = all
  })

  test('begin at another one as the client has them, and end there', { timeout: 90_000 }, async () => {
    const open = (at: Instance) =>
      Promise.all(rawWays.map((way) => openRaw(at.url, way, 'endless', way.replaceAll(/\W/g, ''))))
    const streams = await open(a)
    await expect
      .poll(() => streams.map((stream) => stream.frames().length).toSorted((x, y) => x - y)[0])
      .toBeGreaterThan(9)
    // One reader of each is there while the first instance lives.
    const early = await open(b)
    await a.kill()
    const late = await open(b)
    for (const [place, way] of rawWays.entries()) {
      const stream = streams[place]
      await stream?.ended
      const [one, other] = [early[place], late[place]]
      await Promise.all([one?.ended, other?.ended])
      const run = await b.client.runs.get(stream?.runId ?? '')
      expect([way, run.status, one?.runId, other?.runId]).toEqual([way, 'interrupted', run.run_id, run.run_id])
      expect([way, ...unlike(stream?.frames() ?? [], other?.frames() ?? [], run.truncated)]).toEqual([way])
      expect(one?.frames(), way).toEqual(other?.frames())
    }
  })
})
