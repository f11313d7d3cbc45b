import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createProject, type Project } from '../test/support/program.ts'
import { startMeasured } from './measured-process.ts'
import { bin } from './start-up.ts'

const plainLoops = 8
const streamLoops = 4
const pieces = 40
const brokenEvery = 10
const warmUpReloads = 20

export interface Reloads {
  /** From before a file is written until a request gives the new answer, in the order of the edits. */
  editMs: number[]
  requests: number
  streams: number
  /** What should not be: a failed request, a stream that was cut or whose answer mixes two configs. */
  wrong: string[]
  /** After a collection, before and after so many reloads without load. */
  heapBytes: { before: number; after: number; reloads: number }
}

/** Reloads so many times, half as many under load before that; prints what came of it and says whether all went well. */
export async function soakReloads(reloads: number): Promise<boolean> {
  if (reloads === 0) return true
  const { editMs, requests, streams, wrong, heapBytes } = await measureReloads(Math.ceil(reloads / 2), reloads)
  for (const what of wrong) console.error(`reloads: ${what}`)
  const sorted = editMs.toSorted((a, b) => a - b)
  const ms = (part: number) => Math.round(sorted[Math.floor((sorted.length - 1) * part)] ?? Number.NaN)
  const megabytes = (bytes: number) => (bytes / 2 ** 20).toFixed(1)
  console.log(
    `${editMs.length} edits under load (${requests} requests, ${streams} streams): ${wrong.length} wrong;` +
      ` from the edit to the new answer ${ms(0.5)} ms (median), ${ms(1)} ms (worst)`,
  )
  const { before, after } = heapBytes
  console.log(`${reloads} more reloads: a heap of ${megabytes(after)} MB, before them ${megabytes(before)} MB`)
  return wrong.length === 0
}

/**
 * Edits a file that the config of `dev` imports, every tenth time with a syntax error first, while others send requests and
 * read streams; then reloads on its own and looks at the heap.
 */
export async function measureReloads(edits: number, reloads: number): Promise<Reloads> {
  const project = await createProject({ 'agent.config.ts': config, 'lib/words.ts': words })
  await writeAnswer(project, 'answer-0')
  const flags = ['--config', join(project.folder, 'agent.config.ts'), '--data', join(project.folder, 'data')]
  const server = await startMeasured(bin, ['dev', '--port', '0', '--json', ...flags])
  const found: Reloads = { editMs: [], requests: 0, streams: 0, wrong: [], heapBytes: { before: 0, after: 0, reloads } }
  try {
    const load = startLoad(server.url, found)
    for (let edit = 1; edit <= edits; edit++) {
      await sleep(50 + Math.random() * 100)
      if (edit % brokenEvery === 0) {
        await project.write('lib/answer.ts', 'export const answer = {')
        await sleep(100)
      }
      found.editMs.push(await untilServed(project, server.url, `answer-${edit}`))
    }
    await load.stop()
    for (let reload = 0; reload < warmUpReloads; reload++) await untilServed(project, server.url, `warm-${reload}`)
    found.heapBytes.before = (await server.ask('heap')).heapBytes
    for (let reload = 0; reload < reloads; reload++) await untilServed(project, server.url, `quiet-${reload}`)
    found.heapBytes.after = (await server.ask('heap')).heapBytes
  } finally {
    await server.stop()
    await project.remove()
  }
  return found
}

const config = `
import { agent, defineConfig } from 'agentserve'
import { setTimeout } from 'node:timers/promises'
import { answer } from './lib/answer.ts'
import { pieces } from './lib/words.ts'
export default defineConfig({
  agents: {
    hello: agent({ sideEffects: false, run: () => [answer] }),
    slow: agent({
      async *run({ signal }) {
        for (let piece = 0; piece < pieces; piece++) {
          await setTimeout(10, undefined, { signal })
          yield answer + ' '
        }
      },
    }),
  },
})
`
const words = `export const pieces: number = ${pieces}\n`

function writeAnswer(project: Project, answer: string): Promise<void> {
  return project.write('lib/answer.ts', `export const answer: string = '${answer}'\n`)
}

async function untilServed(project: Project, url: string, answer: string): Promise<number> {
  const startedAt = performance.now()
  await writeAnswer(project, answer)
  while ((await askHello(url)) !== answer) await sleep(1)
  return performance.now() - startedAt
}

async function askHello(url: string): Promise<string> {
  const response = await post(url, '/agents/hello/run')
  return ((await response.json()) as { content: string }).content
}

function post(url: string, path: string): Promise<Response> {
  const headers = { 'content-type': 'application/json' }
  return fetch(`${url}/api/v1${path}`, { method: 'POST', headers, body: '{"input":"x"}' })
}

function startLoad(url: string, found: Reloads): { stop(): Promise<void> } {
  let stopped = false
  const loop = async (work: () => Promise<void>) => {
    while (!stopped) {
      await work().catch((error: unknown) => void found.wrong.push(String(error)))
      await sleep(5)
    }
  }
  const plain = async () => {
    const response = await post(url, '/agents/hello/run')
    const text = await response.text()
    found.requests++
    if (response.status !== 200) found.wrong.push(`status ${response.status}: ${text}`)
  }
  const stream = async () => {
    const text = await (await post(url, '/agents/slow/run/stream')).text()
    found.streams++
    const answers = [...text.matchAll(/"text":"([^"]*) "/g)].map(([, answer]) => answer)
    if (!text.includes('event: run_end')) found.wrong.push(`a stream was cut: ${text.slice(-200)}`)
    else if (answers.length !== pieces || new Set(answers).size !== 1)
      found.wrong.push(`an answer of ${answers.join()}`)
  }
  const loops = [...Array(plainLoops).fill(plain), ...Array(streamLoops).fill(stream)].map(loop)
  return {
    async stop() {
      stopped = true
      await Promise.all(loops)
    },
  }
}
