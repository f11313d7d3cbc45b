import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { type Guard, outliveHostile } from '../test/support/hostile/server.ts'
import { type Asked, ask, type Findings, startMixedLoad, verify } from '../test/support/mixed-load.ts'
import { createProject, type Project, type RunningServer, serve } from '../test/support/program.ts'
import { soakClusterFor } from './cluster-soak.ts'
import { slowClients, stalledReaders, worstBodies } from './crowd.ts'
import { cutStreams } from './cut-streams.ts'
import { endlessRuns, hostileValues } from './endless.ts'
import { brokenUploads, filterComparisons, knowledgeKills } from './knowledge-soak.ts'
import { largeSession } from './large-session.ts'
import { memorySlope } from './memory-slope.ts'
import { soakReloads } from './reloads.ts'
import { configFile } from './start-up.ts'
import { describeSoak, isWithin, soakStudio } from './studio/soak.ts'

/*
 * Proofs that take too long for the tests: `--rounds` kills at random moments under mixed load (500), `--stops` SIGTERMs (20),
 * `--streams` streams that are cut and taken up again (1,000), `--hostile` requests made to do harm, on servers with and without keys (100,000), `--reloads` of a
 * config, half as many of them under load (200), `--runs` through one server whose memory must not grow (500,000), `--slow` clients of headers and as many of
 * bodies (1,000), `--readers` of one run, half of them stalled (1,000), the worst `--bodies` so many times over (1), `--ingestions` that are killed (100), `--filters` compared with the reference
 * (100,000), broken `--uploads` (5,000), runs with `--values` that nobody expects, on each store (20,000), the runs that never stop
 * so many times over against the limits as they are, with less than 600 MB (`--endless`, 1), a session of so many `--large` runs (60), and `--cluster` minutes
 * in which everything goes wrong around three instances on Postgres (15), and so many minutes of a page of the `--studio` in a browser (10). `--break` takes the write-ahead log away after each kill, to show that loss
 * would be found. 0 leaves one out.
 */

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '500' },
    stops: { type: 'string', default: '20' },
    streams: { type: 'string', default: '1000' },
    hostile: { type: 'string', default: '100000' },
    reloads: { type: 'string', default: '200' },
    runs: { type: 'string', default: '500000' },
    slow: { type: 'string', default: '1000' },
    readers: { type: 'string', default: '1000' },
    bodies: { type: 'string', default: '1' },
    ingestions: { type: 'string', default: '100' },
    filters: { type: 'string', default: '100000' },
    uploads: { type: 'string', default: '5000' },
    values: { type: 'string', default: '20000' },
    endless: { type: 'string', default: '1' },
    large: { type: 'string', default: '60' },
    cluster: { type: 'string', default: '15' },
    studio: { type: 'string', default: '10' },
    break: { type: 'boolean', default: false },
  },
})
const deadlineMs = 10_000
const allowedMs = deadlineMs + 500
/** By then V8 has made its young generation as large as this load needs it, up to 128 MB. */
const hostileWarmUp = 10_000

const project = await createProject()
let ok = true
try {
  ok = (await kills(project, Number(options.rounds))) && ok
  ok = (await stops(project, Number(options.stops))) && ok
  ok = (await streams(project, Number(options.streams))) && ok
  ok = (await hostile(Number(options.hostile))) && ok
  ok = (await soakReloads(Number(options.reloads))) && ok
  ok = (await memory(Number(options.runs))) && ok
  ok = (await slow(project, Number(options.slow))) && ok
  ok = (await readers(project, Number(options.readers))) && ok
  ok = (await bodies(project, Number(options.bodies))) && ok
  ok = (await large(project, Number(options.large))) && ok
  ok = (await knowledgeKills(Number(options.ingestions))) && ok
  ok = (await filterComparisons(Number(options.filters))) && ok
  ok = (await brokenUploads(Number(options.uploads))) && ok
  ok = (await hostileValues(Number(options.values))) && ok
  ok = (await endlessRuns(Number(options.endless))) && ok
  ok = (await soakClusterFor(Number(options.cluster))) && ok
  ok = (await studio(Number(options.studio))) && ok
} finally {
  await project.remove()
}
if (!ok) process.exitCode = 1

async function studio(minutes: number): Promise<boolean> {
  if (minutes === 0) return true
  const soaked = await soakStudio(minutes)
  console.log(describeSoak(soaked))
  return isWithin(soaked)
}

async function kills(project: Project, rounds: number): Promise<boolean> {
  if (rounds === 0) return true
  const all: Asked[] = []
  const total: Findings = { lost: [], doubled: [], stuck: [] }
  let server = await start(project)
  for (let round = 1; round <= rounds; round++) {
    const load = startMixedLoad(server.url, `kill-${round}`)
    await sleep(20 + Math.random() * 500)
    await server.kill()
    await load.stop()
    if (options.break) await rm(join(dataOf(project), 'agentserve.db-wal'), { force: true })
    server = await start(project)
    add(total, await verify(server.url, load.asked), `round ${round}`)
    all.push(...load.asked)
    if (round % 50 === 0) console.log(`${round} kills: ${count(all)}, ${describe(total)}`)
  }
  // Once more at the end: what held after its own kill has to hold after all later ones.
  add(
    total,
    await verify(
      server.url,
      all.filter(({ acknowledged }) => acknowledged),
    ),
    'at the end',
  )
  await server.kill()
  console.log(`${rounds} kills under mixed load: ${count(all)}, ${describe(total)}`)
  return isClean(total)
}

/** One of them with a run that does not listen, so that the deadline is used up. */
async function stops(project: Project, rounds: number): Promise<boolean> {
  if (rounds === 0) return true
  const total: Findings = { lost: [], doubled: [], stuck: [] }
  const all: Asked[] = []
  const ends: string[] = []
  let longestMs = 0
  for (let round = 1; round <= rounds; round++) {
    const server = await start(project)
    const load = startMixedLoad(server.url, `stop-${round}-${Date.now()}`)
    const stubborn = round === rounds ? askStubborn(server.url, `stubborn-${Date.now()}`) : undefined
    await sleep(200 + Math.random() * 500)
    const startedAt = performance.now()
    const { code, signal } = await server.stop()
    longestMs = Math.max(longestMs, performance.now() - startedAt)
    ends.push(`exit ${code ?? signal}`)
    await load.stop()
    await stubborn
    const next = await start(project)
    add(total, await verify(next.url, load.asked), `stop ${round}`)
    await next.kill()
    all.push(...load.asked)
  }
  const cuts = tally(
    all.flatMap(({ cutBy, runId }) =>
      cutBy === undefined ? [] : `${cutBy}${runId === undefined ? '' : ' in its answer'}`,
    ),
  )
  console.log(`${rounds} SIGTERMs under mixed load: ${count(all)}, ${describe(total)}`)
  console.log(`requests that got no whole answer: ${cuts || 'none'}`)
  console.log(`the longest took ${Math.round(longestMs)} ms of ${allowedMs}; ${tally(ends)}`)
  return isClean(total) && longestMs <= allowedMs
}

async function streams(project: Project, count: number): Promise<boolean> {
  if (count === 0) return true
  const { wrong, ...figures } = await cutStreams(() => start(project), count)
  for (const what of wrong) console.error(`cut streams: ${what}`)
  const { cuts, kills, interrupted, truncated } = figures
  console.log(
    `${figures.streams} streams cut ${cuts} times, ${kills} kills among them: ${wrong.length} wrong;` +
      ` ${interrupted} were interrupted, ${truncated} of them declare a lost last window`,
  )
  return wrong.length === 0
}

/** Half of them on a server without keys, a quarter each on one with keys and on one with keys behind a proxy. */
async function hostile(count: number): Promise<boolean> {
  if (count === 0) return true
  let sound = await hostileOn('nothing', count / 2)
  sound = (await hostileOn('keys', count / 4)) && sound
  return (await hostileOn('keys behind a proxy', count / 4)) && sound
}

async function hostileOn(guard: Guard, count: number): Promise<boolean> {
  const seed = Date.now() % 1_000_000
  const warmUp = Math.min(hostileWarmUp, Math.ceil(count / 5))
  const { wrong, failures, statuses, codes, ...outcome } = await outliveHostile(Math.ceil(count), seed, warmUp, guard)
  for (const what of [...wrong, ...failures]) console.error(`hostile requests, seed ${seed}: ${what}`)
  const { requests, grownMb, readiness, exitCode } = outcome
  const answers = [...statuses].toSorted().map(([status, times]) => `${status || 'no HTTP'} ${times}`)
  const server = [...codes].filter(([code]) => code.startsWith('5')).map(([code, times]) => `${code} ${times}`)
  console.log(
    `${requests} hostile requests on a server that asks for ${guard}` +
      `: ${wrong.length} answered wrongly, ${failures.length} failures in the log;` +
      ` ${Math.round(grownMb)} MB more than when warm, readiness ${readiness}, exit ${exitCode}`,
  )
  console.log(`their answers: ${answers.join(', ')}; of the server's errors: ${server.join(', ') || 'none'}`)
  return wrong.length + failures.length === 0 && readiness === 200 && exitCode === 0 && grownMb <= 50
}

async function memory(count: number): Promise<boolean> {
  if (count === 0) return true
  const { runs, errors, firstError, megabytes, megabytesPer100kRuns: slope } = await memorySlope(count)
  if (firstError !== undefined) console.error(`memory: ${errors} wrong answers, ${firstError}`)
  console.log(
    `${runs} runs through one server: ${slope.toFixed(2)} MB per 100,000 after warm-up; ` +
      `${megabytes.join(', ')} MB resident after each tenth`,
  )
  return errors === 0 && slope <= 1
}

async function slow(project: Project, count: number): Promise<boolean> {
  if (count === 0) return true
  const { ok, ...found } = await withServer(project, (server) => slowClients(server, count))
  console.log(
    `${count} clients slow with their headers and ${count} with their bodies: closed after ` +
      `${seconds(found.headersClosedMs)} and ${seconds(found.bodiesClosedMs)}; the others' p99 ${found.besideP99Ms} ms, ` +
      `alone ${found.aloneP99Ms} ms, ${found.failed} failed`,
  )
  return ok
}

async function readers(project: Project, count: number): Promise<boolean> {
  if (count === 0) return true
  const { ok, complete, stalled, grownMb } = await withServer(project, (server) => stalledReaders(server, count))
  console.log(`${count} readers: ${complete} complete, ${stalled} stalled; ${Math.round(grownMb)} MB more at the peak`)
  return ok
}

async function bodies(project: Project, rounds: number): Promise<boolean> {
  let longestMs = 0
  for (let round = 1; round <= rounds; round++) {
    for (const { name, delayMs, status } of await withServer(project, worstBodies)) {
      console.log(`10 MB of ${name}: ${status}, the event loop waited ${Math.round(delayMs)} ms`)
      longestMs = Math.max(longestMs, delayMs)
    }
  }
  return longestMs <= 100
}

/** Everything that can be done with a session of so many runs of 10 MB. */
async function large(project: Project, runs: number): Promise<boolean> {
  if (runs === 0) return true
  return (await withServer(project, (server) => largeSession(server, runs))).ok
}

async function withServer<T>(project: Project, work: (server: RunningServer) => Promise<T>): Promise<T> {
  const server = await start(project)
  try {
    return await work(server)
  } finally {
    await server.stop()
  }
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}

async function askStubborn(url: string, id: string): Promise<void> {
  const asked = { kind: 'stream', agentId: 'stubborn', sessionId: id, messageId: id } as const
  await ask(url, {
    ...asked,
    runId: undefined,
    acknowledged: false,
    received: '',
    refused: undefined,
    cutBy: undefined,
  }).catch(() => {})
}

function start(project: Project): Promise<RunningServer> {
  return serve(project, 'start', ['--config', configFile, '--data', dataOf(project)])
}

function dataOf(project: Project): string {
  return join(project.folder, 'data')
}

function add(total: Findings, found: Findings, when: string): void {
  for (const name of ['lost', 'doubled', 'stuck'] as const) {
    for (const what of found[name]) console.error(`${when}: ${name}: ${what}`)
    total[name].push(...found[name])
  }
}

function count(asked: readonly Asked[]): string {
  const acknowledged = asked.filter((one) => one.acknowledged).length
  return `${asked.length} runs asked for, ${acknowledged} acknowledged`
}

function tally(words: readonly string[]): string {
  const counts = Object.entries(Object.groupBy(words, (word) => word))
  return counts.map(([word, all]) => `${all?.length} × ${word}`).join(', ')
}

function describe({ lost, doubled, stuck }: Findings): string {
  return `${lost.length} lost, ${doubled.length} doubled, ${stuck.length} stuck`
}

function isClean({ lost, doubled, stuck }: Findings): boolean {
  return lost.length + doubled.length + stuck.length === 0
}
