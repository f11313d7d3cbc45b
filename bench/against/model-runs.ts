import { pathToFileURL } from 'node:url'
import type * as Package from '../../src/index.ts'
import { scriptedModel } from '../scripted-model.ts'
import { isSteady, median } from './steady.ts'

/*
 * Prints the CPU of a run for answers of 1, 100 and 1,000 fragments, on the build whose `dist/index.js` is named: the median of
 * rounds, after as many rounds as V8 takes to optimise what all of them share. Those are told on stderr.
 */

const { agent, createServer } = (await import(pathToFileURL(process.argv[2] ?? '').href)) as typeof Package
/** Runs of a round: each takes a similar time. */
const countOf: Record<number, number> = { 1: 400, 100: 150, 1000: 30 }
/** A few rounds of equal cost come before the last functions are optimised as well. */
const fewestRounds = 8
const mostRounds = 20
const measuredRounds = 7

// Its lines for each request are no part of what is compared.
const silent = { debug() {}, info() {}, warn() {}, error() {} }
const server = createServer({ logger: silent })
for (const fragments of Object.keys(countOf)) {
  server.registerAgent(`f${fragments}`, agent({ model: scriptedModel(Number(fragments)), instructions: 'Be kind.' }))
}
// In turns, since an answer of each size also optimises, or undoes, what the others use.
const rounds = Object.keys(countOf).map((fragments) => ({ fragments, costs: [] as number[], steadyAfter: 0 }))
const isWarm = (made: number) => made >= fewestRounds && rounds.every(({ steadyAfter }) => steadyAfter > 0)
for (let made = 0; made < mostRounds && !isWarm(made); made++) await next()
const warmUps = rounds[0]?.costs.length ?? 0
for (let turn = 0; turn < measuredRounds; turn++) await next()
await server.shutdown()
console.error(JSON.stringify({ warmUps, rounds }))
const figures = rounds.map(({ fragments, costs }) => [`${fragments} fragments: CPU`, median(costs.slice(warmUps))])
console.log(JSON.stringify(Object.fromEntries(figures)))

async function next(): Promise<void> {
  for (const one of rounds) {
    one.costs.push(await round(one.fragments))
    if (one.steadyAfter === 0 && isSteady(one.costs)) one.steadyAfter = one.costs.length
  }
}

/** Milliseconds of CPU per run. */
async function round(fragments: string): Promise<number> {
  const count = countOf[Number(fragments)] ?? Number.NaN
  const before = process.cpuUsage()
  await runs(fragments, count)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / count / 1000
}

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
