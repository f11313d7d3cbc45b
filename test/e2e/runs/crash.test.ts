import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { type Asked, startMixedLoad, verify } from '../../support/mixed-load.ts'
import { createProject, root, serve } from '../../support/program.ts'
import { seededRandom } from '../../support/seeded-random.ts'

test('loses, doubles and forgets nothing when it is killed 20 times at random moments', {
  timeout: 180_000,
  retry: 0,
}, async () => {
  const random = seededRandom()
  const project = await createProject()
  const config = ['--config', join(root, 'bench/agent.config.ts'), '--data', join(project.folder, 'data')]
  const all: Asked[] = []
  let server = await serve(project, 'start', config)
  try {
    for (let round = 0; round < 20; round++) {
      const load = startMixedLoad(server.url, `round-${round}`)
      await sleep(20 + random() * 300)
      await server.kill()
      await load.stop()
      server = await serve(project, 'start', config)
      expect(await verify(server.url, load.asked), `round ${round}`).toEqual({ lost: [], doubled: [], stuck: [] })
      all.push(...load.asked)
    }
    const acknowledged = all.filter((one) => one.acknowledged)
    expect(acknowledged.length).toBeGreaterThan(20)
    expect(all.length).toBeGreaterThan(acknowledged.length)
    expect(await verify(server.url, acknowledged), 'at the end').toEqual({ lost: [], doubled: [], stuck: [] })
  } finally {
    await server.kill()
    await project.remove()
  }
})
