import { pathToFileURL } from 'node:url'
import type * as Package from '../../src/index.ts'
import { scriptedModel } from '../scripted-model.ts'

/* Prints the CPU of a run for answers of 1, 100 and 1,000 fragments, on the build whose `dist/index.js` is named. */

const { agent, createServer } = (await import(pathToFileURL(process.argv[2] ?? '').href)) as typeof Package
const countOf: Record<number, number> = { 1: 400, 100: 150, 1000: 30 }

const server = createServer({})
for (const fragments of Object.keys(countOf)) {
  server.registerAgent(`f${fragments}`, agent({ model: scriptedModel(Number(fragments)), instructions: 'Be kind.' }))
}
const figures: Record<string, number> = {}
for (const [fragments, count] of Object.entries(countOf)) {
  await runs(fragments, count)
  const before = process.cpuUsage()
  await runs(fragments, count)
  const { user, system } = process.cpuUsage(before)
  figures[`${fragments} fragments: CPU`] = (user + system) / count / 1000
}
await server.shutdown()
console.log(JSON.stringify(figures))

async function runs(fragments: string, count: number): Promise<void> {
  for (let index = 0; index < count; index++) {
    const { status, body } = await server.inject({
      method: 'POST',
      url: `/api/v1/agents/f${fragments}/run`,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ input: 'Say something.' }),
    })
    if (status !== 200) throw new Error(`${status} ${body}`)
  }
}
